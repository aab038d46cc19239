import { flagAt, listAt, numberAt, textAt, textsAt, valueAt, wordAt } from './json.ts'
import { pageWords } from './page-words.ts'

/** Where values of a container's environment come from. */
export type EnvSource =
  | {
      readonly form: 'configMap' | 'secret'
      readonly name: string
      /** Absent: all keys. */
      readonly key?: string
      readonly isOptional: boolean
    }
  | { readonly form: 'said'; readonly text: string }

/** A variable of a container's environment, or all those of a ConfigMap or Secret. */
export interface EnvEntry {
  /** Of all: what stands before each key. */
  readonly name: string
  /** Given as it is. */
  readonly value: string | undefined
  readonly source: EnvSource | undefined
}

/** The environment of a container: later entries win over earlier ones of the same name. */
export function envOf(container: unknown): readonly EnvEntry[] {
  const all = listAt(container, 'envFrom').flatMap((from): readonly EnvEntry[] => {
    const source = refOf(valueAt(from, 'configMapRef'), valueAt(from, 'secretRef'))
    return source === undefined
      ? []
      : [{ name: textAt(from, 'prefix') ?? '', value: undefined, source }]
  })
  const single = listAt(container, 'env').map((variable): EnvEntry => {
    const from = valueAt(variable, 'valueFrom')
    return {
      name: textAt(variable, 'name') ?? '',
      value: from === undefined ? (textAt(variable, 'value') ?? '') : undefined,
      source: from === undefined ? undefined : sourceOf(from),
    }
  })
  return [...all, ...single]
}

function sourceOf(from: unknown): EnvSource {
  const say = pageWords.env
  const ref = refOf(valueAt(from, 'configMapKeyRef'), valueAt(from, 'secretKeyRef'))
  if (ref !== undefined) return ref
  const field = textAt(from, 'fieldRef', 'fieldPath')
  if (field !== undefined) return { form: 'said', text: say.field(field) }
  const resource = textAt(from, 'resourceFieldRef', 'resource')
  if (resource !== undefined) return { form: 'said', text: say.resource(resource) }
  const [form = ''] = Object.keys(typeof from === 'object' && from !== null ? from : {})
  return { form: 'said', text: say.other(form) }
}

function refOf(configMap: unknown, secret: unknown): EnvSource | undefined {
  const given = configMap ?? secret
  const name = textAt(given, 'name')
  if (name === undefined) return undefined
  const key = textAt(given, 'key')
  return {
    form: configMap === undefined ? 'secret' : 'configMap',
    name,
    ...(key === undefined ? {} : { key }),
    isOptional: flagAt(given, 'optional'),
  }
}

/** A probe of a container: what it asks, and when. */
export interface Probe {
  readonly name: string
  readonly asks: string
  readonly when: string
}

export function probesOf(container: unknown): readonly Probe[] {
  const { names, when } = pageWords.probes
  return Object.entries(names).flatMap(([place, name]) => {
    const probe = valueAt(container, place)
    if (probe === undefined) return []
    return [
      {
        name,
        asks: askedBy(probe),
        when: when(
          numberAt(probe, 'initialDelaySeconds') ?? 0,
          numberAt(probe, 'periodSeconds') ?? 10,
          numberAt(probe, 'timeoutSeconds') ?? 1,
          numberAt(probe, 'failureThreshold') ?? 3,
        ),
      },
    ]
  })
}

function askedBy(probe: unknown): string {
  const say = pageWords.probes
  const port = (form: string): string => wordAt(probe, form, 'port') ?? ''
  if (valueAt(probe, 'httpGet') !== undefined) {
    const scheme = textAt(probe, 'httpGet', 'scheme') ?? 'HTTP'
    const host = textAt(probe, 'httpGet', 'host') ?? ''
    return say.http(scheme, host, port('httpGet'), textAt(probe, 'httpGet', 'path') ?? '/')
  }
  if (valueAt(probe, 'tcpSocket') !== undefined) return say.tcp(port('tcpSocket'))
  if (valueAt(probe, 'grpc') !== undefined) {
    return say.grpc(port('grpc'), textAt(probe, 'grpc', 'service'))
  }
  const command = textsAt(probe, 'exec', 'command')
  return command.length === 0 ? say.other : say.exec(command.join(' '))
}

/** What a volume is made of: words, and the object that it names. */
interface VolumeSource {
  readonly text: string
  /** The kind and the name of an object of the pod's namespace. */
  readonly ref?: { readonly kind: string; readonly name: string }
}

export interface Volume {
  readonly name: string
  readonly sources: readonly VolumeSource[]
  readonly mounts: readonly string[]
}

/** The volumes of a pod's spec, with the places where its containers have them. */
export function volumesOf(spec: unknown): readonly Volume[] {
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((place) =>
    listAt(spec, place),
  )
  return listAt(spec, 'volumes').map((volume) => {
    const name = textAt(volume, 'name') ?? ''
    return {
      name,
      sources: sourcesOf(volume),
      mounts: containers.flatMap((container) =>
        [...listAt(container, 'volumeMounts'), ...listAt(container, 'volumeDevices')]
          .filter((mount) => textAt(mount, 'name') === name)
          .map((mount) =>
            pageWords.volumes.mount(
              textAt(mount, 'mountPath') ?? textAt(mount, 'devicePath') ?? '',
              textAt(container, 'name') ?? '',
              flagAt(mount, 'readOnly'),
            ),
          ),
      ),
    }
  })
}

function sourcesOf(volume: unknown): readonly VolumeSource[] {
  const say = pageWords.volumes
  const given = typeof volume === 'object' && volume !== null ? volume : {}
  const form = Object.keys(given).find((key) => key !== 'name') ?? 'emptyDir'
  const source = valueAt(volume, form)
  switch (form) {
    case 'configMap':
      return named('ConfigMap', textAt(source, 'name'))
    case 'secret':
      return named('Secret', textAt(source, 'secretName') ?? textAt(source, 'name'))
    case 'persistentVolumeClaim':
      return named('PersistentVolumeClaim', textAt(source, 'claimName'))
    case 'emptyDir':
      return [{ text: say.emptyDir(textAt(source, 'medium'), textAt(source, 'sizeLimit')) }]
    case 'hostPath':
      return [{ text: say.hostPath(textAt(source, 'path') ?? '') }]
    case 'downwardAPI':
      return [{ text: say.downward }]
    case 'serviceAccountToken':
      return [{ text: say.token }]
    case 'csi':
      return [{ text: say.csi(textAt(source, 'driver') ?? '') }]
    case 'projected':
      return listAt(source, 'sources').flatMap(sourcesOf)
    default:
      return [{ text: say.other(form) }]
  }
}

function named(kind: string, name: string | undefined): readonly VolumeSource[] {
  return [name === undefined ? { text: kind } : { text: kind, ref: { kind, name } }]
}
