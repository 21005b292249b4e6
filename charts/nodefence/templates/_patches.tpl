{{- /* The reference of the image. */}}
{{- define "nodefence.image" -}}
{{- $image := .Values.image }}
{{- if $image.digest }}{{ $image.repository }}@{{ $image.digest }}{{ else }}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* Carries out the operations of a JSON patch (list OBJECT OPERATIONS), add and replace of members of maps, and add at the end of a list. */}}
{{- define "nodefence.patch" -}}
{{- $object := index . 0 }}
{{- range $operation := index . 1 }}
{{- $words := splitList "/" (trimPrefix "/" $operation.path) }}
{{- $isLast := eq (last $words) "-" }}
{{- if $isLast }}{{ $words = initial $words }}{{ end }}
{{- $at := $object }}
{{- range initial $words }}
{{- if kindIs "slice" $at }}{{ $at = index $at (int .) }}{{ else }}{{ $at = index $at . }}{{ end }}
{{- end }}
{{- $key := last $words }}
{{- $value := $operation.value }}
{{- if $isLast }}{{ $value = append (index $at $key) $operation.value }}{{ end }}
{{- $_ := set $at $key $value }}
{{- end }}
{{- end }}

{{- /* Merges (list INTO PATCH) as `kubectl apply -k` does: null removes, lists of Kubernetes are merged by their keys, `$patch: delete` removes one. */}}
{{- define "nodefence.merge" -}}
{{- $into := index . 0 }}
{{- $keys := dict "containers" "name" "volumes" "name" "env" "name" "volumeMounts" "mountPath" }}
{{- range $name, $value := index . 1 }}
{{- if kindIs "invalid" $value }}
{{- $_ := unset $into $name }}
{{- else if and (kindIs "map" $value) (kindIs "map" (index $into $name)) }}
{{- include "nodefence.merge" (list (index $into $name) $value) }}
{{- else if and (hasKey $keys $name) (hasKey $into $name) }}
{{- $key := index $keys $name }}
{{- range $item := $value }}
{{- $rest := list }}
{{- $same := dict }}
{{- range $old := index $into $name }}
{{- if eq (index $old $key) (index $item $key) }}{{ $same = $old }}{{ else }}{{ $rest = append $rest $old }}{{ end }}
{{- end }}
{{- if ne (index $item "$patch") "delete" }}
{{- include "nodefence.merge" (list $same $item) }}
{{- $rest = append $rest $same }}
{{- end }}
{{- $_ := set $into $name $rest }}
{{- end }}
{{- else }}
{{- $_ := set $into $name $value }}
{{- end }}
{{- end }}
{{- end }}
