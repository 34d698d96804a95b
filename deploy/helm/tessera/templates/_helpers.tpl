{{- define "tessera.name" -}}
{{- if contains "tessera" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-tessera" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "tessera.selector" -}}
app.kubernetes.io/name: tessera
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tessera.migrationSelector" -}}
app.kubernetes.io/name: tessera-migrate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tessera.labels" -}}
{{ include "tessera.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "tessera.image" -}}
{{- with .Values.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}
{{- end }}

{{/* The path of the base URL, below which all paths are. */}}
{{- define "tessera.path" -}}
{{- (urlParse .Values.baseUrl).path | trimSuffix "/" }}
{{- end }}

{{/* A number of proxies believes whoever connects, so then only the ingress controller may. */}}
{{- define "tessera.trustProxy" -}}
{{- if regexMatch "^[0-9]+$" .Values.trustProxy }}
{{- if not (and .Values.networkPolicy.enabled .Values.networkPolicy.from) }}
{{- fail "trustProxy is a number, which lets every pod that reaches the service choose the address that it comes from. Give the addresses of the ingress controller instead, or name its pods in networkPolicy.from" }}
{{- end }}
{{- end }}
{{- .Values.trustProxy }}
{{- end }}

{{- define "tessera.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "tessera.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "tessera.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .Values.existingSecret }}
    defaultMode: 0440
- name: tmp
  emptyDir: {}
- name: data
  emptyDir: {}
{{- end }}

{{- define "tessera.mounts" -}}
- name: secrets
  mountPath: /run/secrets/tessera
  readOnly: true
- name: tmp
  mountPath: /tmp
- name: data
  mountPath: /var/lib/tessera
{{- end }}

{{/* Where pods may connect to. */}}
{{- define "tessera.egress" -}}
egress:
  - ports:
      - port: 53
        protocol: UDP
      - port: 53
        protocol: TCP
  - ports:
      {{- range .Values.networkPolicy.egressPorts }}
      - port: {{ . }}
        protocol: TCP
      {{- end }}
{{- end }}
