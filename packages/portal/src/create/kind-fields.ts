import { KindFieldsDocument, type KindFieldsQuery } from '../gateway/documents.ts'
import type { Gateway } from '../gateway/gateway.ts'

/** A field of a kind, as the API server describes it. */
export type KindField = NonNullable<KindFieldsQuery['kindFields']>[number]

/** The kind of a document, and where it goes. */
export interface FieldsOf {
  readonly apiVersion: string
  readonly kind: string
  readonly cluster: string | undefined
  readonly namespace: string | undefined
}

/** The places that one question is about, at most. */
const atOnce = 100

/** The fields of kinds at their places, each asked for once. Nothing is known of what the gateway refuses. */
export class KindFields {
  readonly #gateway: Gateway
  readonly #places = new Map<string, Promise<readonly KindField[]>>()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** The fields at places: `spec.template.spec.containers[*]`; none where the gateway knows none. */
  async at(
    of: FieldsOf,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, readonly KindField[]>> {
    const keyOf = (path: string): string => JSON.stringify([of, path])
    const missing = paths.filter((path) => !this.#places.has(keyOf(path)))
    for (let from = 0; from < missing.length; from += atOnce) {
      const asked = missing.slice(from, from + atOnce)
      const answer = this.#ask(of, asked)
      for (const path of asked) {
        const own = answer.then((fields) => fields.filter((one) => placeOf(one) === path))
        this.#places.set(keyOf(path), own)
      }
    }
    const found = paths.map(
      async (path) => [path, (await this.#places.get(keyOf(path))) ?? []] as const,
    )
    return new Map(await Promise.all(found))
  }

  async #ask(
    { apiVersion, kind, cluster, namespace }: FieldsOf,
    paths: readonly string[],
  ): Promise<readonly KindField[]> {
    const variables = {
      apiVersion,
      kind,
      cluster: cluster ?? null,
      namespace: namespace ?? null,
      paths: [...paths],
    }
    try {
      const { data } = await this.#gateway.ask(KindFieldsDocument, variables)
      return data.kindFields ?? []
    } catch {
      return []
    }
  }
}

function placeOf({ path, name }: KindField): string {
  return path.length === name.length ? '' : path.slice(0, -name.length - 1)
}

/** What the API server sets itself. */
export const ofServer: ReadonlySet<string> = new Set([
  'status',
  'metadata.creationTimestamp',
  'metadata.deletionGracePeriodSeconds',
  'metadata.deletionTimestamp',
  'metadata.generation',
  'metadata.managedFields',
  'metadata.resourceVersion',
  'metadata.selfLink',
  'metadata.uid',
])
