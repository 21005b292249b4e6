{{- /* Written by `npm run generate` from src/manifests; edits are lost. */}}
{{- define "nodefence.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: nodefence-controller
  namespace: "{{ .Release.Namespace }}"
  labels:
    app.kubernetes.io/name: nodefence
    app.kubernetes.io/part-of: nodefence
    app.kubernetes.io/component: controller
spec:
  replicas: 2
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 0
      maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: nodefence
      app.kubernetes.io/part-of: nodefence
      app.kubernetes.io/component: controller
  template:
    metadata:
      labels:
        app.kubernetes.io/name: nodefence
        app.kubernetes.io/part-of: nodefence
        app.kubernetes.io/component: controller
    spec:
      serviceAccountName: nodefence-controller
      priorityClassName: system-cluster-critical
      enableServiceLinks: false
      terminationGracePeriodSeconds: 15
      tolerations:
        - key: node-role.kubernetes.io/control-plane
          operator: Exists
          effect: NoSchedule
        - key: node-role.kubernetes.io/master
          operator: Exists
          effect: NoSchedule
        - key: node.kubernetes.io/memory-pressure
          operator: Exists
          effect: NoSchedule
        - key: node.kubernetes.io/disk-pressure
          operator: Exists
          effect: NoSchedule
        - key: node.kubernetes.io/pid-pressure
          operator: Exists
          effect: NoSchedule
        - key: node.kubernetes.io/not-ready
          operator: Exists
          effect: NoExecute
          tolerationSeconds: 30
        - key: node.kubernetes.io/unreachable
          operator: Exists
          effect: NoExecute
          tolerationSeconds: 30
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - labelSelector:
                matchLabels:
                  app.kubernetes.io/name: nodefence
                  app.kubernetes.io/part-of: nodefence
                  app.kubernetes.io/component: controller
              topologyKey: kubernetes.io/hostname
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 50
              podAffinityTerm:
                labelSelector:
                  matchLabels:
                    app.kubernetes.io/name: nodefence
                    app.kubernetes.io/part-of: nodefence
                    app.kubernetes.io/component: controller
                topologyKey: topology.kubernetes.io/zone
      containers:
        - name: controller
          image: '{{ include "nodefence.image" . }}'
          args:
            - controller
            - --mode
            - observe
          env:
            - name: NODEFENCE_OWN_NODE
              valueFrom:
                fieldRef:
                  fieldPath: spec.nodeName
            - name: NODEFENCE_FENCE_NAMESPACE
              valueFrom:
                fieldRef:
                  fieldPath: metadata.namespace
          ports:
            - name: http
              containerPort: 8080
          startupProbe:
            httpGet:
              path: /healthz
              port: http
            periodSeconds: 2
            failureThreshold: 45
          livenessProbe:
            httpGet:
              path: /healthz
              port: http
            periodSeconds: 10
            failureThreshold: 3
          readinessProbe:
            httpGet:
              path: /readyz
              port: http
            periodSeconds: 5
          resources:
            requests:
              cpu: 50m
              memory: 128Mi
            limits:
              memory: 1Gi
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            runAsNonRoot: true
            runAsUser: 65532
            capabilities:
              drop:
                - ALL
            seccompProfile:
              type: RuntimeDefault
{{- end }}
{{- define "nodefence.daemonset" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
  labels:
    app.kubernetes.io/name: nodefence
    app.kubernetes.io/part-of: nodefence
    app.kubernetes.io/component: node
spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: nodefence
      app.kubernetes.io/part-of: nodefence
      app.kubernetes.io/component: node
  minReadySeconds: 10
  updateStrategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 10%
  template:
    metadata:
      labels:
        app.kubernetes.io/name: nodefence
        app.kubernetes.io/part-of: nodefence
        app.kubernetes.io/component: node
    spec:
      serviceAccountName: nodefence-node
      automountServiceAccountToken: false
      priorityClassName: system-node-critical
      enableServiceLinks: false
      nodeSelector:
        kubernetes.io/os: linux
      tolerations:
        - operator: Exists
      terminationGracePeriodSeconds: 40
      containers:
        - name: node
          image: '{{ include "nodefence.image" . }}'
          command:
            - node
            - --lite-mode
            - /app/dist/src/main.js
          args:
            - node
          env:
            - name: NODEFENCE_NODE_NAME
              valueFrom:
                fieldRef:
                  fieldPath: spec.nodeName
            - name: NODEFENCE_NODE_FENCE_NAMESPACE
              valueFrom:
                fieldRef:
                  fieldPath: metadata.namespace
            - name: NODEFENCE_NODE_WATCHDOG
              value: none
            - name: NODEFENCE_NODE_CONFIG
              value: /etc/nodefence/nodes
          ports:
            - name: daemon
              containerPort: 7411
              protocol: UDP
          volumeMounts:
            - name: run
              mountPath: /run/nodefence
            - name: state
              mountPath: /var/lib/nodefence
            - name: token
              mountPath: /var/run/secrets/kubernetes.io/serviceaccount
              readOnly: true
            - name: lines
              mountPath: /etc/nodefence/nodes
              readOnly: true
          resources:
            requests:
              cpu: 10m
              memory: 80Mi
            limits:
              memory: 160Mi
          securityContext:
            runAsUser: 0
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop:
                - ALL
            seccompProfile:
              type: RuntimeDefault
      volumes:
        - name: run
          hostPath:
            path: /run/nodefence
            type: DirectoryOrCreate
        - name: state
          hostPath:
            path: /var/lib/nodefence
            type: DirectoryOrCreate
        - name: token
          projected:
            defaultMode: 256
            sources:
              - serviceAccountToken:
                  path: token
                  expirationSeconds: 3600
              - configMap:
                  name: kube-root-ca.crt
                  items:
                    - key: ca.crt
                      path: ca.crt
              - downwardAPI:
                  items:
                    - path: namespace
                      fieldRef:
                        apiVersion: v1
                        fieldPath: metadata.namespace
        - name: lines
          configMap:
            name: nodefence-nodes
            optional: true
{{- end }}
{{- define "nodefence.duty.watchdog" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
spec:
  template:
    spec:
      volumes:
        - name: units
          hostPath:
            path: /etc/systemd/system
            type: DirectoryOrCreate
      containers:
        - name: node
          securityContext:
            privileged: true
            allowPrivilegeEscalation: null
            capabilities: null
            seccompProfile: null
          env:
            - name: NODEFENCE_NODE_WATCHDOG
              $patch: delete
          volumeMounts:
            - name: units
              mountPath: /etc/systemd/system
              readOnly: true
{{- end }}
{{- define "nodefence.duty.self-fence" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
spec:
  template:
    spec:
      hostNetwork: true
      hostPID: true
      volumes:
        - name: cgroups
          hostPath:
            path: /sys/fs/cgroup
            type: DirectoryOrCreate
        - name: containerd
          hostPath:
            path: /run/containerd
            type: DirectoryOrCreate
        - name: crio
          hostPath:
            path: /run/crio
            type: DirectoryOrCreate
      containers:
        - name: node
          securityContext:
            privileged: true
            allowPrivilegeEscalation: null
            capabilities: null
            seccompProfile: null
          env:
            - name: NODEFENCE_NODE_SELF_FENCE
              value: "true"
          volumeMounts:
            - name: cgroups
              mountPath: /sys/fs/cgroup
            - name: containerd
              mountPath: /run/containerd
              readOnly: true
            - name: crio
              mountPath: /run/crio
              readOnly: true
{{- end }}
{{- define "nodefence.duty.soft-fence" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
spec:
  template:
    spec:
      volumes:
        - name: dbus
          hostPath:
            path: /run/dbus
            type: Directory
        - name: systemd
          hostPath:
            path: /run/systemd/system
            type: Directory
      containers:
        - name: node
          securityContext:
            appArmorProfile:
              type: Unconfined
            seLinuxOptions:
              type: spc_t
          env:
            - name: NODEFENCE_NODE_SOFT_FENCE
              value: "true"
          volumeMounts:
            - name: dbus
              mountPath: /run/dbus
              readOnly: true
            - name: systemd
              mountPath: /run/systemd/system
              readOnly: true
{{- end }}
{{- define "nodefence.duty.unfence" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
spec:
  template:
    spec:
      volumes:
        - name: devices
          hostPath:
            path: /dev
            type: Directory
      containers:
        - name: node
          terminationMessagePath: /termination-log
          volumeMounts:
            - name: devices
              mountPath: /dev
          securityContext:
            privileged: true
            allowPrivilegeEscalation: null
            capabilities: null
            seccompProfile: null
{{- end }}
{{- define "nodefence.duty.storage-lease-device" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
spec:
  template:
    spec:
      volumes:
        - name: devices
          hostPath:
            path: /dev
            type: Directory
      containers:
        - name: node
          terminationMessagePath: /termination-log
          volumeMounts:
            - name: devices
              mountPath: /dev
          securityContext:
            privileged: true
            allowPrivilegeEscalation: null
            capabilities: null
            seccompProfile: null
          resources:
            requests:
              memory: 130Mi
            limits:
              memory: 220Mi
          env:
            - name: NODEFENCE_NODE_STORAGE_LEASE
              value: /dev/mapper/nodefence-lease
            - name: NODEFENCE_NODE_STORAGE_LEASE_CLUSTER
              value: nodefence
{{- end }}
{{- define "nodefence.duty.storage-lease-file" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
spec:
  template:
    spec:
      volumes:
        - name: lease
          hostPath:
            path: /mnt/nodefence-lease
            type: Directory
      containers:
        - name: node
          resources:
            requests:
              memory: 130Mi
            limits:
              memory: 220Mi
          env:
            - name: NODEFENCE_NODE_STORAGE_LEASE
              value: /mnt/nodefence-lease/slots
            - name: NODEFENCE_NODE_STORAGE_LEASE_CLUSTER
              value: nodefence
          volumeMounts:
            - name: lease
              mountPath: /mnt/nodefence-lease
              mountPropagation: HostToContainer
{{- end }}
{{- define "nodefence.duty.conditions" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
spec:
  template:
    spec:
      containers:
        - name: node
          env:
            - name: NODEFENCE_NODE_CONDITIONS
              value: "true"
{{- end }}
{{- define "nodefence.duty.host-files" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
spec:
  template:
    spec:
      volumes:
        - name: host
          hostPath:
            path: /
            type: Directory
      containers:
        - name: node
          env:
            - name: NODEFENCE_NODE_HOST_ROOT
              value: /host
          volumeMounts:
            - name: host
              mountPath: /host
              readOnly: true
              mountPropagation: HostToContainer
{{- end }}
{{- define "nodefence.duty.file-systems" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
spec:
  template:
    spec:
      volumes:
        - name: host
          hostPath:
            path: /
            type: Directory
      containers:
        - name: node
          env:
            - name: NODEFENCE_NODE_HOST_ROOT
              value: /host
            - name: NODEFENCE_NODE_VERIFY_FILE_SYSTEMS
              value: "true"
          volumeMounts:
            - name: host
              mountPath: /host
              readOnly: true
              mountPropagation: HostToContainer
{{- end }}
{{- define "nodefence.duty.machine-id" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nodefence-node
  namespace: "{{ .Release.Namespace }}"
spec:
  template:
    spec:
      volumes:
        - name: machine-id
          hostPath:
            path: /etc/machine-id
            type: File
      containers:
        - name: node
          volumeMounts:
            - name: machine-id
              mountPath: /etc/machine-id
              readOnly: true
{{- end }}
{{- define "nodefence.serving-node-daemons" -}}
operations:
  - op: add
    path: /spec/template/spec/containers/0/args/-
    value: --node-daemons
  - op: add
    path: /spec/template/spec/containers/0/ports/-
    value:
      name: node-daemons
      containerPort: 7411
      protocol: UDP
{{- end }}
{{- define "nodefence.hearing-kdump" -}}
operations:
  - op: add
    path: /spec/template/spec/hostNetwork
    value: true
  - op: add
    path: /spec/template/spec/dnsPolicy
    value: ClusterFirstWithHostNet
  - op: replace
    path: /spec/template/spec/containers/0/ports/0/containerPort
    value: 7409
  - op: add
    path: /spec/template/spec/containers/0/args/-
    value: --http-address
  - op: add
    path: /spec/template/spec/containers/0/args/-
    value: :7409
  - op: add
    path: /spec/template/spec/containers/0/args/-
    value: --kdump-address
  - op: add
    path: /spec/template/spec/containers/0/args/-
    value: :7410
  - op: add
    path: /spec/template/spec/containers/0/ports/-
    value:
      name: kdump
      containerPort: 7410
      protocol: UDP
{{- end }}
