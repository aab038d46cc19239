/**
 * Baseline: what one writes by hand. LIST in pages of 500 on one connection, JSON.parse, forget managedFields, keep in a
 * Map by key. Argument: the API server's URL.
 */
import { ListClient, readPages } from '../support/list-client.ts'
import { reportSync } from '../support/sync-report.ts'

interface PodList {
  readonly items: { metadata: { name: string; namespace: string; managedFields?: unknown } }[]
  readonly metadata: { readonly continue?: string }
}

const [url = ''] = process.argv.slice(2)
await reportSync(async () => {
  const cache = new Map<string, unknown>()
  const client = new ListClient(url, 1)
  await readPages(async (path) => {
    const list = JSON.parse(await client.text(path)) as PodList
    for (const pod of list.items) {
      pod.metadata.managedFields = undefined
      cache.set(`${pod.metadata.namespace}/${pod.metadata.name}`, pod)
    }
    return list.metadata.continue
  })
  return { pods: cache.size, cache }
})
