{{/*
The start of the names of all objects: the release's name, with the chart's if that is another one. With
`-webhook-service` behind it, it is a name for a Service.
*/}}
{{- define "project-webhooks.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 47 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 47 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 47 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/*
Labels of every object, beside those in config/.
*/}}
{{- define "project-webhooks.labels" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/*
The service account of the manager.
*/}}
{{- define "project-webhooks.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default (printf "%s-controller-manager" (include "project-webhooks.fullname" .)) }}
{{- else }}
{{- required "serviceAccount.create=false needs serviceAccount.name" .Values.serviceAccount.name }}
{{- end }}
{{- end }}
