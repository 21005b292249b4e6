// Field numbers and types: `generated.proto` of k8s.io/api and k8s.io/apimachinery, in the order of the numbers. A word is `name:number:type`; no type is a string, `?` is a pointer of
// Go's, which is sent when it is set (everything else always), `[]` a list, `...` a message whose fields JSON shows among those of its owner.
export const MESSAGES: Readonly<Record<string, string>> = {
  ListMeta: 'selfLink:1 resourceVersion:2 continue:3 remainingItemCount:4:int?',
  ObjectMeta:
    'name:1 generateName:2 namespace:3 selfLink:4 uid:5 resourceVersion:6 generation:7:int creationTimestamp:8:Time deletionTimestamp:9:Time? deletionGracePeriodSeconds:10:int? labels:11:map annotations:12:map ownerReferences:13:[OwnerReference] finalizers:14:[string] managedFields:17:[ManagedFieldsEntry]',
  OwnerReference: 'kind:1 name:3 uid:4 apiVersion:5 controller:6:bool? blockOwnerDeletion:7:bool?',
  ManagedFieldsEntry: 'manager:1 operation:2 apiVersion:3 time:4:Time? fieldsType:6 fieldsV1:7:Raw? subresource:8',
  LabelSelector: 'matchLabels:1:map matchExpressions:2:[LabelSelectorRequirement]',
  LabelSelectorRequirement: 'key:1 operator:2 values:3:[string]',
  Status: 'metadata:1:ListMeta status:2 message:3 reason:4 details:5:StatusDetails? code:6:int',
  StatusDetails: 'name:1 group:2 kind:3 causes:4:[StatusCause] retryAfterSeconds:5:int uid:6',
  StatusCause: 'reason:1 message:2 field:3',
  Node: 'metadata:1:ObjectMeta spec:2:NodeSpec status:3:NodeStatus',
  NodeSpec: 'podCIDR:1 externalID:2 providerID:3 unschedulable:4:bool taints:5:[Taint] podCIDRs:7:[string]',
  NodeStatus:
    'capacity:1:quantities allocatable:2:quantities phase:3 conditions:4:[NodeCondition] addresses:5:[NodeAddress] daemonEndpoints:6:NodeDaemonEndpoints nodeInfo:7:NodeSystemInfo images:8:[ContainerImage] volumesInUse:9:[string] volumesAttached:10:[AttachedVolume] declaredFeatures:14:[string]',
  NodeCondition: 'type:1 status:2 lastHeartbeatTime:3:Time lastTransitionTime:4:Time reason:5 message:6',
  NodeAddress: 'type:1 address:2',
  NodeSystemInfo:
    'machineID:1 systemUUID:2 bootID:3 kernelVersion:4 osImage:5 containerRuntimeVersion:6 kubeletVersion:7 kubeProxyVersion:8 operatingSystem:9 architecture:10',
  NodeDaemonEndpoints: 'kubeletEndpoint:1:DaemonEndpoint',
  DaemonEndpoint: 'Port:1:int',
  ContainerImage: 'names:1:[string] sizeBytes:2:int',
  AttachedVolume: 'name:1 devicePath:2',
  Taint: 'key:1 value:2 effect:3 timeAdded:4:Time?',
  Pod: 'metadata:1:ObjectMeta spec:2:PodSpec status:3:PodStatus',
  PodSpec:
    'volumes:1:[Volume] containers:2:[Container] restartPolicy:3 terminationGracePeriodSeconds:4:int? activeDeadlineSeconds:5:int? dnsPolicy:6 nodeSelector:7:map serviceAccountName:8 serviceAccount:9 nodeName:10 hostNetwork:11:bool hostPID:12:bool hostIPC:13:bool securityContext:14:PodSecurityContext? imagePullSecrets:15:[LocalObjectReference] hostname:16 subdomain:17 affinity:18:Affinity? schedulerName:19 initContainers:20:[Container] automountServiceAccountToken:21:bool? tolerations:22:[Toleration] priorityClassName:24 priority:25:int? shareProcessNamespace:27:bool? runtimeClassName:29:? enableServiceLinks:30:bool? preemptionPolicy:31:? overhead:32:quantities topologySpreadConstraints:33:[TopologySpreadConstraint] setHostnameAsFQDN:35:bool? hostUsers:37:bool? resources:40:ResourceRequirements? hostnameOverride:41:?',
  PodStatus:
    'phase:1 conditions:2:[PodCondition] message:3 reason:4 hostIP:5 podIP:6 startTime:7:Time? containerStatuses:8:[ContainerStatus] qosClass:9 initContainerStatuses:10:[ContainerStatus] nominatedNodeName:11 podIPs:12:[PodIP] ephemeralContainerStatuses:13:[ContainerStatus] resize:14 hostIPs:16:[HostIP] observedGeneration:17:int allocatedResources:19:quantities resources:20:ResourceRequirements?',
  PodCondition: 'type:1 status:2 lastProbeTime:3:Time lastTransitionTime:4:Time reason:5 message:6 observedGeneration:7:int',
  PodIP: 'ip:1',
  HostIP: 'ip:1',
  Toleration: 'key:1 operator:2 value:3 effect:4 tolerationSeconds:5:int?',
  Volume: 'name:1 volumeSource:2:...VolumeSource',
  VolumeSource:
    'hostPath:1:HostPathVolumeSource? emptyDir:2:EmptyDirVolumeSource? secret:6:SecretVolumeSource? nfs:7:NFSVolumeSource? persistentVolumeClaim:10:PersistentVolumeClaimVolumeSource? configMap:19:ConfigMapVolumeSource? projected:26:ProjectedVolumeSource?',
  PersistentVolumeClaimVolumeSource: 'claimName:1 readOnly:2:bool',
  HostPathVolumeSource: 'path:1 type:2:?',
  EmptyDirVolumeSource: 'medium:1 sizeLimit:2:Quantity? mode:3:int?',
  SecretVolumeSource: 'secretName:1 items:2:[KeyToPath] defaultMode:3:int? optional:4:bool? defaultUser:5:int?',
  ConfigMapVolumeSource: 'localObjectReference:1:...LocalObjectReference items:2:[KeyToPath] defaultMode:3:int? optional:4:bool? defaultUser:5:int?',
  LocalObjectReference: 'name:1',
  KeyToPath: 'key:1 path:2 mode:3:int? user:4:int?',
  ProjectedVolumeSource: 'sources:1:[VolumeProjection] defaultMode:2:int? defaultUser:3:int?',
  VolumeProjection:
    'secret:1:SecretProjection? downwardAPI:2:DownwardAPIProjection? configMap:3:ConfigMapProjection? serviceAccountToken:4:ServiceAccountTokenProjection?',
  ServiceAccountTokenProjection: 'audience:1 expirationSeconds:2:int? path:3 user:4:int?',
  ConfigMapProjection: 'localObjectReference:1:...LocalObjectReference items:2:[KeyToPath] optional:4:bool?',
  SecretProjection: 'localObjectReference:1:...LocalObjectReference items:2:[KeyToPath] optional:4:bool?',
  DownwardAPIProjection: 'items:1:[DownwardAPIVolumeFile]',
  DownwardAPIVolumeFile: 'path:1 fieldRef:2:ObjectFieldSelector? mode:4:int? user:5:int?',
  NFSVolumeSource: 'server:1 path:2 readOnly:3:bool',
  Container:
    'name:1 image:2 command:3:[string] args:4:[string] workingDir:5 ports:6:[ContainerPort] env:7:[EnvVar] resources:8:ResourceRequirements volumeMounts:9:[VolumeMount] livenessProbe:10:Probe? readinessProbe:11:Probe? terminationMessagePath:13 imagePullPolicy:14 securityContext:15:SecurityContext? stdin:16:bool stdinOnce:17:bool tty:18:bool terminationMessagePolicy:20 volumeDevices:21:[VolumeDevice] startupProbe:22:Probe? restartPolicy:24:?',
  ContainerPort: 'name:1 hostPort:2:int containerPort:3:int protocol:4 hostIP:5',
  EnvVar: 'name:1 value:2 valueFrom:3:EnvVarSource?',
  EnvVarSource: 'fieldRef:1:ObjectFieldSelector? configMapKeyRef:3:ConfigMapKeySelector? secretKeyRef:4:SecretKeySelector?',
  ObjectFieldSelector: 'apiVersion:1 fieldPath:2',
  SecretKeySelector: 'localObjectReference:1:...LocalObjectReference key:2 optional:3:bool?',
  ConfigMapKeySelector: 'localObjectReference:1:...LocalObjectReference key:2 optional:3:bool?',
  ResourceRequirements: 'limits:1:quantities requests:2:quantities',
  VolumeMount: 'name:1 readOnly:2:bool mountPath:3 subPath:4 mountPropagation:5:? subPathExpr:6 recursiveReadOnly:7:? bindMountOptions:8:[string]',
  VolumeDevice: 'name:1 devicePath:2',
  Probe:
    'handler:1:...ProbeHandler initialDelaySeconds:2:int timeoutSeconds:3:int periodSeconds:4:int successThreshold:5:int failureThreshold:6:int terminationGracePeriodSeconds:7:int?',
  ProbeHandler: 'exec:1:ExecAction? httpGet:2:HTTPGetAction? tcpSocket:3:TCPSocketAction?',
  ExecAction: 'command:1:[string]',
  HTTPGetAction: 'path:1 port:2:IntOrString host:3 scheme:4 protocol:6:?',
  TCPSocketAction: 'port:1:IntOrString host:2',
  SecurityContext:
    'capabilities:1:Capabilities? privileged:2:bool? runAsUser:4:int? runAsNonRoot:5:bool? readOnlyRootFilesystem:6:bool? allowPrivilegeEscalation:7:bool? runAsGroup:8:int? procMount:9:? seccompProfile:11:SeccompProfile?',
  PodSecurityContext:
    'runAsUser:2:int? runAsNonRoot:3:bool? supplementalGroups:4:[int] fsGroup:5:int? runAsGroup:6:int? fsGroupChangePolicy:9:? seccompProfile:10:SeccompProfile? supplementalGroupsPolicy:12:? seLinuxChangePolicy:13:?',
  Capabilities: 'add:1:[string] drop:2:[string]',
  SeccompProfile: 'type:1 localhostProfile:2:?',
  Affinity: 'nodeAffinity:1:NodeAffinity? podAffinity:2:PodAffinity? podAntiAffinity:3:PodAntiAffinity?',
  NodeAffinity:
    'requiredDuringSchedulingIgnoredDuringExecution:1:NodeSelector? preferredDuringSchedulingIgnoredDuringExecution:2:[PreferredSchedulingTerm]',
  PodAffinity:
    'requiredDuringSchedulingIgnoredDuringExecution:1:[PodAffinityTerm] preferredDuringSchedulingIgnoredDuringExecution:2:[WeightedPodAffinityTerm]',
  PodAntiAffinity:
    'requiredDuringSchedulingIgnoredDuringExecution:1:[PodAffinityTerm] preferredDuringSchedulingIgnoredDuringExecution:2:[WeightedPodAffinityTerm]',
  NodeSelector: 'nodeSelectorTerms:1:[NodeSelectorTerm]',
  NodeSelectorTerm: 'matchExpressions:1:[NodeSelectorRequirement] matchFields:2:[NodeSelectorRequirement]',
  NodeSelectorRequirement: 'key:1 operator:2 values:3:[string]',
  PreferredSchedulingTerm: 'weight:1:int preference:2:NodeSelectorTerm',
  PodAffinityTerm:
    'labelSelector:1:LabelSelector? namespaces:2:[string] topologyKey:3 namespaceSelector:4:LabelSelector? matchLabelKeys:5:[string] mismatchLabelKeys:6:[string]',
  WeightedPodAffinityTerm: 'weight:1:int podAffinityTerm:2:PodAffinityTerm',
  TopologySpreadConstraint:
    'maxSkew:1:int topologyKey:2 whenUnsatisfiable:3 labelSelector:4:LabelSelector? minDomains:5:int? nodeAffinityPolicy:6:? nodeTaintsPolicy:7:? matchLabelKeys:8:[string]',
  ContainerStatus:
    'name:1 state:2:ContainerState lastState:3:ContainerState ready:4:bool restartCount:5:int image:6 imageID:7 containerID:8 started:9:bool? allocatedResources:10:quantities resources:11:ResourceRequirements? volumeMounts:12:[VolumeMountStatus] stopSignal:15:?',
  ContainerState: 'waiting:1:ContainerStateWaiting? running:2:ContainerStateRunning? terminated:3:ContainerStateTerminated?',
  ContainerStateWaiting: 'reason:1 message:2',
  ContainerStateRunning: 'startedAt:1:Time',
  ContainerStateTerminated: 'exitCode:1:int signal:2:int reason:3 message:4 startedAt:5:Time finishedAt:6:Time containerID:7',
  VolumeMountStatus: 'name:1 mountPath:2 readOnly:3:bool recursiveReadOnly:4:?',
  Lease: 'metadata:1:ObjectMeta spec:2:LeaseSpec',
  LeaseSpec:
    'holderIdentity:1:? leaseDurationSeconds:2:int? acquireTime:3:MicroTime? renewTime:4:MicroTime? leaseTransitions:5:int? strategy:6:? preferredHolder:7:?',
  VolumeAttachment: 'metadata:1:ObjectMeta spec:2:VolumeAttachmentSpec status:3:VolumeAttachmentStatus',
  VolumeAttachmentSpec: 'attacher:1 source:2:VolumeAttachmentSource nodeName:3',
  VolumeAttachmentSource: 'persistentVolumeName:1:?',
  VolumeAttachmentStatus: 'attached:1:bool attachmentMetadata:2:map attachError:3:VolumeError? detachError:4:VolumeError?',
  VolumeError: 'time:1:Time message:2 errorCode:3:int?',
  NodeList: 'metadata:1:ListMeta items:2:[Node]',
  PodList: 'metadata:1:ListMeta items:2:[Pod]',
  LeaseList: 'metadata:1:ListMeta items:2:[Lease]',
  VolumeAttachmentList: 'metadata:1:ListMeta items:2:[VolumeAttachment]',
};
