{{/* Labels of all objects of a part: exporter or collector. Arguments: root context, name of the part. */}}
{{- define "kgroups.labels" -}}
{{ include "kgroups.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
{{- end }}

{{- define "kgroups.selector" -}}
app.kubernetes.io/name: kgroups
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "kgroups.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Image, policy, and rights of a container. Arguments: root context, repository. */}}
{{- define "kgroups.container" -}}
image: "{{ index . 1 }}:{{ (index . 0).Values.image.tag | default (index . 0).Chart.AppVersion }}"
imagePullPolicy: {{ (index . 0).Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "kgroups.connection" -}}
- name: KGROUPS_BOOTSTRAP_SERVER
  value: {{ required "set kafka.bootstrapServers to HOST:PORT of the brokers" .Values.kafka.bootstrapServers | quote }}
{{- if .Values.kafka.clientSecret }}
- name: KGROUPS_COMMAND_CONFIG
  value: /etc/kgroups/client.properties
{{- end }}
{{- end }}

{{/* Environment of the commands of history. */}}
{{- define "kgroups.history" -}}
env:
  {{- include "kgroups.connection" . | nindent 2 }}
  - name: KGROUPS_STORE
    value: {{ .Values.collector.store | default "/var/lib/kgroups" | quote }}
  {{- range $name, $value := .Values.collector.environment }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
{{- with .Values.collector.environmentSecret }}
envFrom:
  - secretRef: {name: {{ . }}}
{{- end }}
{{- end }}

{{- define "kgroups.mounts" -}}
- {name: tmp, mountPath: /tmp}
{{- if .Values.kafka.clientSecret }}
- {name: client, mountPath: /etc/kgroups, readOnly: true}
{{- end }}
{{- end }}

{{- define "kgroups.volumes" -}}
- {name: tmp, emptyDir: {}}
{{- with .Values.kafka.clientSecret }}
- name: client
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- end }}
