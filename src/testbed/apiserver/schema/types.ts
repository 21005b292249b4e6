/**
 * Fields of the built-in kinds, as far as a controller, kubectl and field validation need them, in a short notation written from the Kubernetes
 * API reference (v1.32): `name:type`, without a type `string`; `!` required; `[T]` a list that is one value, `[T|k]` a list merged by key `k`,
 * `[T~k]` merged by strategic patches only, `[string|]` a set; `{T}` a map. Types that start with an upper-case letter are defined here.
 */
export const TYPE_NOTATION = `
ObjectMeta name generateName namespace selfLink uid resourceVersion generation:int creationTimestamp:time deletionTimestamp:time deletionGracePeriodSeconds:int labels:{string} annotations:{string} ownerReferences:[OwnerReference|uid] finalizers:[string|] managedFields:[ManagedFieldsEntry]
OwnerReference apiVersion! kind! name! uid! controller:bool blockOwnerDeletion:bool
ManagedFieldsEntry manager operation apiVersion time:time fieldsType fieldsV1:any subresource
ObjectReference kind namespace name uid apiVersion resourceVersion fieldPath
LocalObjectReference name
LabelSelector matchLabels:{string} matchExpressions:[LabelSelectorRequirement]
LabelSelectorRequirement key! operator! values:[string]
Condition type! status! observedGeneration:int lastTransitionTime:time reason message lastProbeTime:time lastUpdateTime:time lastHeartbeatTime:time
Namespace spec:NamespaceSpec status:NamespaceStatus
NamespaceSpec finalizers:[string]
NamespaceStatus phase conditions:[Condition|type]
Node spec:NodeSpec status:NodeStatus
NodeSpec podCIDR podCIDRs:[string|] providerID unschedulable:bool taints:[Taint] externalID configSource:any
Taint key! value effect! timeAdded:time
NodeStatus capacity:{quantity} allocatable:{quantity} phase conditions:[NodeCondition|type] addresses:[NodeAddress~type] daemonEndpoints:any nodeInfo:NodeSystemInfo images:[any] volumesInUse:[string] volumesAttached:[AttachedVolume] config:any runtimeHandlers:[any] features:any
NodeCondition type! status! lastHeartbeatTime:time lastTransitionTime:time reason message
NodeAddress type! address!
NodeSystemInfo machineID systemUUID bootID kernelVersion osImage containerRuntimeVersion kubeletVersion kubeProxyVersion operatingSystem architecture swap:any
AttachedVolume name! devicePath!
Pod spec:PodSpec status:PodStatus
PodTemplateSpec metadata:ObjectMeta spec:PodSpec
PodSpec volumes:[Volume|name] initContainers:[Container|name] containers:[Container|name] ephemeralContainers:[Container|name] restartPolicy terminationGracePeriodSeconds:int activeDeadlineSeconds:int dnsPolicy nodeSelector:{string} serviceAccountName serviceAccount automountServiceAccountToken:bool nodeName hostNetwork:bool hostPID:bool hostIPC:bool shareProcessNamespace:bool securityContext:any imagePullSecrets:[LocalObjectReference|name] hostname subdomain affinity:any schedulerName tolerations:[Toleration] hostAliases:[HostAlias|ip] priorityClassName priority:int dnsConfig:any readinessGates:[any] runtimeClassName enableServiceLinks:bool preemptionPolicy overhead:{quantity} topologySpreadConstraints:[TopologySpreadConstraint|topologyKey,whenUnsatisfiable] setHostnameAsFQDN:bool os:any hostUsers:bool schedulingGates:[NamedGate|name] resourceClaims:[PodResourceClaim|name] resources:any
HostAlias ip! hostnames:[string]
NamedGate name!
PodResourceClaim name! resourceClaimName resourceClaimTemplateName
TopologySpreadConstraint maxSkew:int topologyKey! whenUnsatisfiable! labelSelector:LabelSelector minDomains:int nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys:[string]
Toleration key operator value effect tolerationSeconds:int
Volume name! persistentVolumeClaim:PersistentVolumeClaimVolumeSource emptyDir:any configMap:any secret:any hostPath:any downwardAPI:any projected:any csi:any ephemeral:any nfs:any iscsi:any fc:any rbd:any cephfs:any awsElasticBlockStore:any gcePersistentDisk:any azureDisk:any azureFile:any image:any glusterfs:any gitRepo:any cinder:any flexVolume:any flocker:any vsphereVolume:any quobyte:any photonPersistentDisk:any portworxVolume:any scaleIO:any storageos:any
PersistentVolumeClaimVolumeSource claimName! readOnly:bool
Container name! image command:[string] args:[string] workingDir ports:[ContainerPort|containerPort,protocol] envFrom:[any] env:[EnvVar|name] resources:any resizePolicy:[any] restartPolicy volumeMounts:[VolumeMount|mountPath] volumeDevices:[VolumeDevice|devicePath] livenessProbe:any readinessProbe:any startupProbe:any lifecycle:any terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext:any stdin:bool stdinOnce:bool tty:bool targetContainerName
ContainerPort name hostPort:int containerPort!:int protocol hostIP
EnvVar name! value valueFrom:any
VolumeMount name! readOnly:bool recursiveReadOnly mountPath! subPath mountPropagation subPathExpr
VolumeDevice name! devicePath!
PodStatus phase conditions:[PodCondition|type] message reason nominatedNodeName hostIP hostIPs:[HostIp~ip] podIP podIPs:[HostIp|ip] startTime:time initContainerStatuses:[any] containerStatuses:[any] qosClass ephemeralContainerStatuses:[any] resize resourceClaimStatuses:[any] observedGeneration:int
HostIp ip
PodCondition type! status! lastProbeTime:time lastTransitionTime:time reason message observedGeneration:int
ConfigMap data:{string} binaryData:{string} immutable:bool
Secret data:{string} stringData:{string} type immutable:bool
Service spec:ServiceSpec status:any
ServiceSpec ports:[ServicePort|port,protocol] selector:{string} clusterIP clusterIPs:[string] type externalIPs:[string] sessionAffinity loadBalancerIP loadBalancerSourceRanges:[string] externalName externalTrafficPolicy healthCheckNodePort:int publishNotReadyAddresses:bool sessionAffinityConfig:any ipFamilies:[string] ipFamilyPolicy allocateLoadBalancerNodePorts:bool loadBalancerClass internalTrafficPolicy trafficDistribution
ServicePort name protocol appProtocol port!:int targetPort:intorstring nodePort:int
Event involvedObject:ObjectReference reason message source:EventSource firstTimestamp:time lastTimestamp:time count:int type eventTime:time series:EventSeries action related:ObjectReference reportingComponent reportingInstance regarding:ObjectReference note reportingController deprecatedSource:EventSource deprecatedFirstTimestamp:time deprecatedLastTimestamp:time deprecatedCount:int
EventSource component host
EventSeries count:int lastObservedTime:time
ServiceAccount secrets:[ObjectReference~name] imagePullSecrets:[LocalObjectReference] automountServiceAccountToken:bool
PersistentVolume spec:PersistentVolumeSpec status:PersistentVolumeStatus
PersistentVolumeSpec capacity:{quantity} accessModes:[string] claimRef:ObjectReference persistentVolumeReclaimPolicy storageClassName mountOptions:[string] volumeMode nodeAffinity:any volumeAttributesClassName csi:any hostPath:any local:any nfs:any iscsi:any fc:any rbd:any cephfs:any awsElasticBlockStore:any gcePersistentDisk:any azureDisk:any azureFile:any glusterfs:any cinder:any flexVolume:any
PersistentVolumeStatus phase message reason lastPhaseTransitionTime:time
PersistentVolumeClaim spec:PersistentVolumeClaimSpec status:PersistentVolumeClaimStatus
PersistentVolumeClaimSpec accessModes:[string] selector:LabelSelector resources:any volumeName storageClassName volumeMode dataSource:any dataSourceRef:any volumeAttributesClassName
PersistentVolumeClaimStatus phase accessModes:[string] capacity:{quantity} conditions:[Condition|type] allocatedResources:{quantity} allocatedResourceStatuses:{string} currentVolumeAttributesClassName modifyVolumeStatus:any
Lease spec:LeaseSpec
LeaseSpec holderIdentity leaseDurationSeconds:int acquireTime:time renewTime:time leaseTransitions:int strategy preferredHolder
StatefulSet spec:StatefulSetSpec status:StatefulSetStatus
StatefulSetSpec replicas:int selector!:LabelSelector template!:PodTemplateSpec volumeClaimTemplates:[any] serviceName podManagementPolicy updateStrategy:any revisionHistoryLimit:int minReadySeconds:int persistentVolumeClaimRetentionPolicy:any ordinals:any
StatefulSetStatus observedGeneration:int replicas:int readyReplicas:int currentReplicas:int updatedReplicas:int currentRevision updateRevision collisionCount:int conditions:[Condition|type] availableReplicas:int
Deployment spec:DeploymentSpec status:DeploymentStatus
DeploymentSpec replicas:int selector!:LabelSelector template!:PodTemplateSpec strategy:any minReadySeconds:int revisionHistoryLimit:int paused:bool progressDeadlineSeconds:int
DeploymentStatus observedGeneration:int replicas:int updatedReplicas:int readyReplicas:int availableReplicas:int unavailableReplicas:int conditions:[Condition|type] collisionCount:int
ReplicaSet spec:ReplicaSetSpec status:ReplicaSetStatus
ReplicaSetSpec replicas:int minReadySeconds:int selector!:LabelSelector template:PodTemplateSpec
ReplicaSetStatus replicas:int fullyLabeledReplicas:int readyReplicas:int availableReplicas:int observedGeneration:int conditions:[Condition|type]
DaemonSet spec:DaemonSetSpec status:DaemonSetStatus
DaemonSetSpec selector!:LabelSelector template!:PodTemplateSpec updateStrategy:any minReadySeconds:int revisionHistoryLimit:int
DaemonSetStatus currentNumberScheduled:int numberMisscheduled:int desiredNumberScheduled:int numberReady:int observedGeneration:int updatedNumberScheduled:int numberAvailable:int numberUnavailable:int collisionCount:int conditions:[Condition|type]
Job spec:JobSpec status:JobStatus
JobSpec parallelism:int completions:int activeDeadlineSeconds:int podFailurePolicy:any successPolicy:any backoffLimit:int backoffLimitPerIndex:int maxFailedIndexes:int selector:LabelSelector manualSelector:bool template!:PodTemplateSpec ttlSecondsAfterFinished:int completionMode suspend:bool podReplacementPolicy managedBy
JobStatus conditions:[Condition~type] startTime:time completionTime:time active:int succeeded:int failed:int terminating:int completedIndexes failedIndexes uncountedTerminatedPods:any ready:int
PodDisruptionBudget spec:PodDisruptionBudgetSpec status:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec minAvailable:intorstring selector:LabelSelector maxUnavailable:intorstring unhealthyPodEvictionPolicy
PodDisruptionBudgetStatus observedGeneration:int disruptedPods:any disruptionsAllowed:int currentHealthy:int desiredHealthy:int expectedPods:int conditions:[Condition|type]
StorageClass provisioner! parameters:{string} reclaimPolicy mountOptions:[string] allowVolumeExpansion:bool volumeBindingMode allowedTopologies:[any]
VolumeAttachment spec!:VolumeAttachmentSpec status:VolumeAttachmentStatus
VolumeAttachmentSpec attacher! source!:VolumeAttachmentSource nodeName!
VolumeAttachmentSource persistentVolumeName inlineVolumeSpec:any
VolumeAttachmentStatus attached!:bool attachmentMetadata:{string} attachError:any detachError:any
ResourceQuota spec:ResourceQuotaSpec status:any
ResourceQuotaSpec hard:{string} scopes:[string] scopeSelector:ScopeSelector
ScopeSelector matchExpressions:[ScopedResourceSelectorRequirement]
ScopedResourceSelectorRequirement scopeName! operator! values:[string]
NetworkPolicy spec:NetworkPolicySpec
NetworkPolicySpec podSelector:LabelSelector policyTypes:[string] ingress:[NetworkPolicyIngressRule] egress:[NetworkPolicyEgressRule]
NetworkPolicyIngressRule from:[NetworkPolicyPeer] ports:[NetworkPolicyPort]
NetworkPolicyEgressRule to:[NetworkPolicyPeer] ports:[NetworkPolicyPort]
NetworkPolicyPeer podSelector:LabelSelector namespaceSelector:LabelSelector ipBlock:IPBlock
NetworkPolicyPort protocol port:intorstring endPort:int
IPBlock cidr! except:[string]
PriorityClass value!:int globalDefault:bool description preemptionPolicy
FlowSchema spec:FlowSchemaSpec status:any
FlowSchemaSpec priorityLevelConfiguration!:PriorityLevelReference matchingPrecedence:int distinguisherMethod:FlowDistinguisherMethod rules:[PolicyRulesWithSubjects]
PriorityLevelReference name!
FlowDistinguisherMethod type!
PolicyRulesWithSubjects subjects!:[FlowSubject] resourceRules:[ResourcePolicyRule] nonResourceRules:[NonResourcePolicyRule]
FlowSubject kind! user:any group:any serviceAccount:ServiceAccountSubject
ServiceAccountSubject namespace! name!
ResourcePolicyRule verbs!:[string] apiGroups!:[string] resources!:[string] clusterScope:bool namespaces:[string]
NonResourcePolicyRule verbs!:[string] nonResourceURLs!:[string]
PriorityLevelConfiguration spec:PriorityLevelConfigurationSpec status:any
PriorityLevelConfigurationSpec type! limited:LimitedPriorityLevelConfiguration exempt:any
LimitedPriorityLevelConfiguration nominalConcurrencyShares:int limitResponse:LimitResponse lendablePercent:int borrowingLimitPercent:int
LimitResponse type! queuing:QueuingConfiguration
QueuingConfiguration queues:int handSize:int queueLengthLimit:int
PolicyRule verbs!:[string] apiGroups:[string] resources:[string] resourceNames:[string] nonResourceURLs:[string]
RoleRef apiGroup kind! name!
Subject kind! apiGroup name! namespace
Role rules:[PolicyRule]
ClusterRole rules:[PolicyRule] aggregationRule:any
RoleBinding subjects:[Subject] roleRef!:RoleRef
ClusterRoleBinding subjects:[Subject] roleRef!:RoleRef
CustomResourceDefinition spec!:CustomResourceDefinitionSpec status:any
CustomResourceDefinitionSpec group! names!:CustomResourceDefinitionNames scope! versions!:[CustomResourceDefinitionVersion] conversion:any preserveUnknownFields:bool
CustomResourceDefinitionNames plural! singular shortNames:[string] kind! listKind categories:[string]
CustomResourceDefinitionVersion name! served!:bool storage!:bool deprecated:bool deprecationWarning schema:any subresources:any additionalPrinterColumns:[any] selectableFields:[any]
TokenReview spec!:any status:any
SelfSubjectReview status:any
SubjectAccessReview spec!:any status:any
SelfSubjectAccessReview spec!:any status:any
LocalSubjectAccessReview spec!:any status:any
`;
