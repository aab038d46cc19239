import type { Unstructured } from '../../kubernetes/object.ts'

type Fields = Record<string, unknown>

/** The names of Event fields: in the core group, and in `events.k8s.io/v1`. */
const eventFields: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]

function renamed(object: Unstructured, names: ReadonlyMap<string, string>): Fields {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]),
  )
}

const toEvents = new Map(eventFields)
const toCore = new Map(eventFields.map(([core, events]) => [events, core]))

/** `autoscaling/v1` has one metric, the utilization of the CPU. Drops the others. */
function autoscalerV1({ spec, ...object }: Unstructured): Fields {
  const { metrics = [], behavior: _, ...rest } = (spec ?? {}) as Fields & { metrics?: Fields[] }
  const cpu = metrics.map((metric) => metric['resource'] as Fields | undefined)
  const target = cpu.find((resource) => resource?.['name'] === 'cpu')?.['target'] as Fields
  const utilization = target?.['averageUtilization']
  return {
    ...object,
    spec: {
      ...rest,
      ...(utilization === undefined ? {} : { targetCPUUtilizationPercentage: utilization }),
    },
  }
}

function autoscalerV2({ spec, ...object }: Unstructured): Fields {
  const { targetCPUUtilizationPercentage: averageUtilization, ...rest } = (spec ?? {}) as Fields
  const target = { type: 'Utilization', averageUtilization }
  const metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }]
  return { ...object, spec: { ...rest, ...(averageUtilization === undefined ? {} : { metrics }) } }
}

/** By `kind from to`. */
const conversions: Readonly<Record<string, (object: Unstructured) => Fields>> = {
  'Event v1 events.k8s.io/v1': (event) => renamed(event, toEvents),
  'Event events.k8s.io/v1 v1': (event) => renamed(event, toCore),
  'HorizontalPodAutoscaler autoscaling/v2 autoscaling/v1': autoscalerV1,
  'HorizontalPodAutoscaler autoscaling/v1 autoscaling/v2': autoscalerV2,
}

/**
 * An object in another version of its kind. Kinds without a conversion change their `apiVersion` only, as custom
 * resources without a webhook do.
 */
export function converted(object: Unstructured, apiVersion: string): Unstructured {
  if (object.apiVersion === apiVersion) return object
  const convert = conversions[`${object.kind} ${object.apiVersion} ${apiVersion}`]
  return { ...(convert?.(object) ?? object), apiVersion } as Unstructured
}
