import { KindFieldsDocument, type KindFieldsQuery } from '../gateway/documents.ts'
import { type AnswerError, errorsOf, type Gateway } from '../gateway/gateway.ts'

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
  /** By kind and place. */
  readonly #places = new Map<string, Promise<readonly KindField[]>>()
  /** The kinds that the gateway says are not served. */
  readonly #unserved = new Set<string>()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** The fields at places: `spec.template.spec.containers[*]`; none where the gateway knows none. */
  async at(
    of: FieldsOf,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, readonly KindField[]>> {
    const keyOf = (path: string): string => placeKey(of, path)
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

  /** Whether no cluster serves the kind. Asks for what {@link at} asks first. */
  async isUnserved(of: FieldsOf): Promise<boolean> {
    await this.at(of, [''])
    return this.#unserved.has(placeKey(of, ''))
  }

  /** Asks again for kinds that were not served: they may be by now. */
  forgetUnserved(): void {
    for (const key of this.#unserved) this.#places.delete(key)
    this.#unserved.clear()
  }

  async #ask(of: FieldsOf, paths: readonly string[]): Promise<readonly KindField[]> {
    const { apiVersion, kind, cluster, namespace } = of
    const variables = {
      apiVersion,
      kind,
      cluster: cluster ?? null,
      namespace: namespace ?? null,
      paths: [...paths],
    }
    try {
      const { data, errors } = await this.#gateway.ask(KindFieldsDocument, variables)
      this.#note(of, paths, errors)
      return data.kindFields ?? []
    } catch (error) {
      this.#note(of, paths, errorsOf(error as Error))
      return []
    }
  }

  #note(of: FieldsOf, paths: readonly string[], errors: readonly AnswerError[]): void {
    const isUnserved = errors.some(
      ({ extensions }) =>
        extensions?.code === 'BAD_USER_INPUT' &&
        ['group', 'kind'].includes(String(extensions['argument'])),
    )
    if (isUnserved) for (const path of paths) this.#unserved.add(placeKey(of, path))
  }
}

function placeKey(of: FieldsOf, path: string): string {
  return JSON.stringify([of, path])
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
