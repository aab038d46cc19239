import { resources, type Unstructured } from 'informerql/kubernetes'
import type { ServedPortal } from './portal-page.ts'

/** The first pod of `payments`, by name, whose container runs. */
export function runningPod({ cluster }: ServedPortal): Unstructured {
  const pods = [...cluster.storage.list(resources.pods, 'payments')]
  const [first] = pods
    .filter((pod) => {
      const { containerStatuses = [] } = pod['status'] as {
        readonly containerStatuses?: readonly { readonly state?: { readonly running?: object } }[]
      }
      return containerStatuses.some(({ state }) => state?.running !== undefined)
    })
    .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
  if (first === undefined) throw new Error('payments has pods that run')
  return first
}
