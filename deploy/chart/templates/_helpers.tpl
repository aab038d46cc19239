{{- define "informerql.name" -}}
{{- .Values.nameOverride | default .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "informerql.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "informerql.name" .) -}}
{{- end -}}

{{- /* Gateways with an address or a volume of their own are a StatefulSet. */ -}}
{{- define "informerql.workloadKind" -}}
{{- if or .Values.share.enabled .Values.archive.volumeSize }}StatefulSet{{ else }}Deployment{{ end -}}
{{- end -}}

{{- define "informerql.selector" -}}
app.kubernetes.io/name: informerql
app.kubernetes.io/instance: {{ include "informerql.name" . }}
{{- end -}}

{{- define "informerql.labels" -}}
{{ include "informerql.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- define "informerql.scheme" -}}
{{- if .Values.tls.existingSecret }}https{{ else }}http{{ end -}}
{{- end -}}

{{- /* The bytes of a quantity such as 2Gi, as a whole number. */ -}}
{{- define "informerql.bytes" -}}
{{- $units := dict "" 1 "k" 1000 "K" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $quantity := ternary (int64 .) . (kindIs "float64" .) | toString -}}
{{- $number := regexFind "^[0-9]+([.][0-9]+)?" $quantity -}}
{{- $unit := trimPrefix $number $quantity -}}
{{- if or (eq $number "") (not (hasKey $units $unit)) }}{{ fail (printf "resources.limits.memory: %q is no quantity such as 2Gi" $quantity) }}{{ end -}}
{{- mulf (float64 $number) (index $units $unit) | int64 -}}
{{- end -}}

{{- /* informerql.yaml: the values, and what the chart knows better. */ -}}
{{- define "informerql.config" -}}
{{- $name := include "informerql.name" . -}}
{{- $config := deepCopy .Values.config -}}
{{- $host := printf "%s.%s" $name .Release.Namespace -}}
{{- $hosts := list (printf "%s.svc" $host) (printf "%s.svc.cluster.local" $host) $host -}}
{{- $server := merge (dict "host" "0.0.0.0" "port" 4000 "metricsHost" "0.0.0.0" "metricsPort" (int .Values.metrics.port)) ($config.server | default dict) -}}
{{- $_ := set $server "allowedHosts" (concat $hosts ($server.allowedHosts | default list)) -}}
{{- if .Values.tls.existingSecret }}
{{- $_ := set $server "tlsCert" "/etc/informerql/tls/tls.crt" -}}
{{- $_ := set $server "tlsKey" "/etc/informerql/tls/tls.key" -}}
{{- end }}
{{- $_ := set $config "server" $server -}}
{{- if .Values.login.existingSecret }}
{{- $files := dict "clientSecretFile" "/etc/informerql/login/client-secret" "sessionSecretFile" "/etc/informerql/login/session-secrets" -}}
{{- $_ := set $config "auth" (mergeOverwrite (deepCopy ($config.auth | default dict)) (dict "login" $files)) -}}
{{- end }}
{{- if .Values.archive.volumeSize }}
{{- if .Values.archive.existingSecret }}{{ fail "archive: give existingSecret or volumeSize, not both" }}{{ end -}}
{{- $_ := set $config "archive" (merge (dict "url" "file:/var/lib/informerql/archive.db") ($config.archive | default dict)) -}}
{{- end }}
{{- with .Values.share.caKey }}
{{- $_ := set $config "share" (merge (dict "caFile" (printf "/etc/informerql/tls/%s" .)) ($config.share | default dict)) -}}
{{- end }}
{{- if .Values.schema }}{{ $_ := set $config "schema" "/etc/informerql/schema" }}{{ end -}}
{{- toYaml $config -}}
{{- end -}}

{{- /* The milliseconds of a number, or of a duration such as 1m30s. */ -}}
{{- define "informerql.ms" -}}
{{- $ms := ternary 0.0 . (kindIs "string" .) | float64 -}}
{{- if kindIs "string" . }}
{{- $units := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 -}}
{{- range regexFindAll "[0-9]+([.][0-9]+)?(ms|[smhd])" . -1 }}
{{- $number := regexFind "^[0-9.]+" . -}}
{{- $ms = addf $ms (mulf (float64 $number) (index $units (trimPrefix $number .))) -}}
{{- end }}
{{- end }}
{{- $ms | int64 -}}
{{- end -}}

{{- /*
Node's heap: 60 % of the limit for what lives long, and 48 MiB for what does not. The gateway's bounds follow from it. extraEnv may have
NODE_OPTIONS of its own.
*/ -}}
{{- define "informerql.env" -}}
{{- $given := list -}}
{{- range .Values.extraEnv }}{{ $given = append $given .name }}{{ end -}}
{{- with ((.Values.resources).limits).memory }}
{{- if not (has "NODE_OPTIONS" $given) }}
- name: NODE_OPTIONS
  value: --max-old-space-size={{ div (mul (include "informerql.bytes" . | int64) 60) 104857600 }} --max-semi-space-size=16
{{- end }}
{{- end }}
{{- if .Values.share.enabled }}
{{- if not .Values.archive.existingSecret }}{{ fail "share.enabled: gateways share clusters through a Postgres; give archive.existingSecret" }}{{ end }}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: INFORMERQL_SHARE_ADDRESS
  value: {{ include "informerql.scheme" . }}://$(POD_NAME).{{ include "informerql.name" . }}-peers.{{ .Release.Namespace }}.svc:4000
{{- end }}
{{- with .Values.archive.existingSecret }}
- name: INFORMERQL_ARCHIVE_URL
  valueFrom:
    secretKeyRef: { name: {{ . }}, key: {{ $.Values.archive.urlKey }} }
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* The time that a stop may take, in seconds. */ -}}
{{- define "informerql.graceSeconds" -}}
{{- $server := .Values.config.server | default dict -}}
{{- $ms := 0 -}}
{{- range $option, $default := dict "drainDelayMs" 0 "drainSpreadMs" 10000 "stopDeadlineMs" 10000 }}
{{- $ms = add $ms (include "informerql.ms" (ternary (get $server $option) $default (hasKey $server $option)) | int64) -}}
{{- end -}}
{{- add (div (add $ms 999) 1000) 5 -}}
{{- end -}}

{{- /* The rules of the kinds of config.profile, as the gateway reads it (docs/clients.md#a-schema-of-your-size). */ -}}
{{- define "informerql.readerRules" -}}
{{- $profile := .Values.config.profile | default dict -}}
{{- $include := $profile.include | default dict -}}
{{- $exclude := $profile.exclude | default dict -}}
{{- $isAll := not (or (hasKey $include "groups") (hasKey $include "kinds")) -}}
{{- $all := .Files.Get "files/kinds.json" | fromJson -}}
{{- $known := list -}}
{{- $served := list -}}
{{- range $group, $kinds := $all }}
{{- range $kind, $resource := $kinds }}
{{- $known = append $known $kind -}}
{{- $isIn := or $isAll (has $kind ($include.kinds | default list)) (include "informerql.hasGroup" (list $group $include.groups)) -}}
{{- $isOut := or (has $kind ($exclude.kinds | default list)) (and (not (has $kind ($include.kinds | default list))) (include "informerql.hasGroup" (list $group $exclude.groups))) -}}
{{- if and $isIn (not $isOut) }}{{ $served = append $served $kind }}{{ end -}}
{{- end }}
{{- end }}
{{- range $include.kinds }}
{{- if and (not (has . $known)) (not $.Values.rbac.customGroups) }}{{ fail (printf "config.profile.include.kinds: %s is no built-in kind: name its group in rbac.customGroups" .) }}{{ end -}}
{{- end }}
{{- $whole := list -}}
{{- range $group, $kinds := $all }}
{{- $resources := list -}}
{{- $isWhole := ne $group "" -}}
{{- range $kind, $resource := $kinds }}
{{- $isServed := or (has $kind $served) (and (hasSuffix "Metrics" $kind) (has (trimSuffix "Metrics" $kind) $served)) -}}
{{- if and (eq $kind "Secret") (not $.Values.rbac.secrets) }}{{ $isServed = false }}{{ end -}}
{{- if $isServed }}{{ $resources = append $resources $resource }}{{ else }}{{ $isWhole = false }}{{ end -}}
{{- end }}
{{- if $isWhole }}{{ $whole = append $whole $group }}
{{- else if $resources }}
- apiGroups: [{{ $group | quote }}]
  resources:
    {{- toYaml (sortAlpha $resources) | nindent 4 }}
  verbs: [get, list, watch]
{{- end }}
{{- end }}
{{- with concat $whole .Values.rbac.customGroups }}
- apiGroups:
    {{- toYaml . | nindent 4 }}
  resources: ['*']
  verbs: [get, list, watch]
{{- end }}
{{- end -}}

{{- /* Whether a list of groups has one, also by *.ENDING. */ -}}
{{- define "informerql.hasGroup" -}}
{{- $group := index . 0 -}}
{{- range index . 1 }}
{{- if or (eq . $group) (and (hasPrefix "*." .) (hasSuffix (trimPrefix "*" .) $group)) }}true{{ end -}}
{{- end }}
{{- end -}}
