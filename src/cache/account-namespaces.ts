/**
 * Finds the namespaces in which the gateway's account may list and watch a kind: one SelfSubjectRulesReview for each
 * namespace, again every few seconds, since no watch tells an account of its own rights. Every account may ask for its
 * own rules. Starts with the first kind that needs it.
 *
 * The namespaces that it looks into are the configured ones; else those that the account may list; else that of its own
 * context.
 */
import { accountMay, accountReview, type Post } from '../api-server/account-review.ts'
import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { fieldsOf, itemsOf, textOf } from '../kubernetes/fields.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import { sleep } from '../lib/backoff.ts'
import { boundedParallel } from '../lib/concurrency.ts'

/** Asks an API server what the gateway's own account may do there. */
export interface AccountRequests {
  request(
    method: 'GET' | 'POST',
    path: string,
    options: { readonly body?: unknown; readonly signal: AbortSignal; readonly deadlineMs: number },
  ): Promise<unknown>
  /** The namespace of the account's own context or ServiceAccount. */
  readonly namespace?: string | undefined
}

/** The namespaces of a cluster that are cached. */
export interface CachedNamespaces {
  /** The namespaces to cache, in each cluster that does not say others. Absent: all that the gateway's account may list. */
  readonly namespaces?: readonly string[] | undefined
  /** Namespaces that are not cached. */
  readonly excludeNamespaces?: readonly string[] | undefined
}

export interface AccountNamespacesOptions extends CachedNamespaces {
  /** Absent: the cluster cannot be asked now. */
  readonly requests: () => AccountRequests | undefined
  /** The rules of the account have changed, or were read for the first time. */
  readonly changed: () => void
}

/** How often the rules of the account are read, at most. */
const periodMs = 4_000
/** With many namespaces, a round takes as much time for each. */
const perNamespaceMs = 100
/** Where nothing is likely to change, rounds are so much rarer. */
const settledFactor = 5
const manyNamespaces = 40
/** How soon after a sign that something has changed. */
const soonMs = 300
const deadlineMs = 10_000
const maxNamespaces = 5_000
const requestsAtOnce = 8
/** Every so many rounds, asks whether kinds may be listed in all namespaces by now. */
const roundsPerWideReview = 8

interface Rule {
  readonly verbs: readonly string[]
  readonly groups: readonly string[]
  readonly resources: readonly string[]
}

/** What the account may do in one namespace. */
interface NamespaceRules {
  readonly rules: readonly Rule[]
  /** Another authorizer than RBAC may allow more than the rules say. */
  readonly isIncomplete: boolean
  /** What other authorizers allow besides: `pods`, `deployments.apps`. */
  readonly reviewed: ReadonlySet<string>
}

export class AccountNamespaces {
  readonly #options: AccountNamespacesOptions
  readonly #excluded: ReadonlySet<string>
  /** The kinds that are cached by namespaces. */
  readonly #kinds = new Map<string, ApiResource>()
  #rules: ReadonlyMap<string, NamespaceRules> = new Map()
  /** The kinds that may be listed in all namespaces. */
  #wide: ReadonlySet<string> = new Set()
  #text = ''
  #rounds = 0
  /** The rounds that were begun and that have ended, successful or not. */
  #begun = 0
  #ended = 0
  #readMs = Number.NEGATIVE_INFINITY
  #isDue = false
  #isWideDue = true
  #running: Promise<void> | undefined
  #next = Promise.withResolvers<void>()
  #wake: PromiseWithResolvers<void> | undefined

  constructor(options: AccountNamespacesOptions) {
    this.#options = options
    this.#excluded = new Set(options.excludeNamespaces)
  }

  /** The namespaces where the account may list and watch a kind, sorted. */
  of(resource: ApiResource): readonly string[] {
    const name = groupResourceOf(resource)
    const found: string[] = []
    for (const [namespace, { rules, reviewed }] of this.#rules) {
      if (reviewed.has(name) || verbs.every((verb) => allows(rules, verb, resource))) {
        found.push(namespace)
      }
    }
    return found.toSorted()
  }

  /** Whether the rules were read. */
  get isKnown(): boolean {
    return this.#rounds > 0
  }

  /** The namespaces that it looks into, as far as they are known. */
  get known(): readonly string[] {
    if (this.#rules.size > 0) return [...this.#rules.keys()]
    const { namespaces, requests } = this.#options
    const own = requests()?.namespace
    const found = namespaces ?? (own === undefined ? [] : [own])
    return found.filter((name) => !this.#excluded.has(name))
  }

  /** Whether the account may list and watch a kind in all namespaces, as asked from time to time. */
  isWide(resource: ApiResource): boolean {
    return this.#wide.has(groupResourceOf(resource))
  }

  /**
   * Follows a kind that is cached by namespaces, until the signal of the first call. Resolves when its rules are known:
   * at once if they were read a moment ago, unless `isAgain`.
   */
  async follow(resource: ApiResource, signal: AbortSignal, isAgain: boolean): Promise<void> {
    this.#kinds.set(groupResourceOf(resource), resource)
    this.#running ??= this.#run(signal)
    const isFresh = performance.now() - this.#readMs < periodMs
    const isWhole = [...this.#rules.values()].every(({ isIncomplete }) => !isIncomplete)
    if (!isAgain && isFresh && isWhole) return
    // Reads the rules again soon, and waits for a round that begins from now on.
    const wanted = this.#begun + 1
    this.#isDue = true
    this.#wake?.resolve()
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    while (this.#ended < wanted && !signal.aborted) await this.#next.promise
  }

  /** The account is another one now, or has other credentials: reads the rules again at once. */
  renewed(): void {
    this.#isWideDue = true
    this.#isDue = true
    this.#wake?.resolve()
  }

  forget(resource: ApiResource): void {
    this.#kinds.delete(groupResourceOf(resource))
  }

  /** Resolves when it has ended, after the signal. */
  async ended(): Promise<void> {
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    // Not before the caller waits for it.
    await Promise.resolve()
    while (!signal.aborted) {
      this.#isDue = false
      this.#begun += 1
      // oxlint-disable-next-line no-await-in-loop -- one round after the other
      if (this.#kinds.size > 0) await this.#round(signal)
      this.#ended = this.#begun
      const { resolve } = this.#next
      this.#next = Promise.withResolvers()
      resolve()
      // Waits for the next round, or for a sign that something has changed.
      if (!this.#isDue) {
        this.#wake = Promise.withResolvers()
        const woken = new AbortController()
        void this.#wake.promise.then(() => woken.abort())
        const slowly = this.#isSettled ? settledFactor : 1
        const pauseMs = slowly * Math.max(periodMs, this.#rules.size * perNamespaceMs)
        await sleep(pauseMs, AbortSignal.any([signal, woken.signal]))
      }
      // Gathers the signs of one moment, and bounds the rounds of one that lasts.
      await sleep(soonMs, signal)
    }
    this.#ended = Infinity
    this.#next.resolve()
  }

  /** Reads the rules once. A failure leaves what was known. */
  async #round(signal: AbortSignal): Promise<void> {
    const requests = this.#options.requests()
    if (requests === undefined) return
    try {
      const found = this.#options.namespaces ?? (await namespacesOf(requests, signal))
      const wanted = [...new Set(found)].filter((name) => !this.#excluded.has(name))
      const candidates = wanted.slice(0, maxNamespaces)
      const rules = new Map<string, NamespaceRules>()
      await boundedParallel(candidates, requestsAtOnce, async (namespace) => {
        rules.set(namespace, await this.#rulesIn(requests, namespace, signal))
      })
      const isDue = this.#isWideDue || this.#rounds % roundsPerWideReview === 0
      this.#isWideDue = false
      if (isDue && this.#options.namespaces === undefined) {
        const wide = new Set<string>()
        await boundedParallel([...this.#kinds], requestsAtOnce, async ([name, resource]) => {
          if (await mayList(requests, resource, '', signal)) wide.add(name)
        })
        this.#wide = wide
      }
      this.#rounds += 1
      this.#rules = rules
      this.#readMs = performance.now()
    } catch {
      // The cluster cannot be reached, or a namespace has just gone.
      return
    }
    const kinds = [...this.#kinds.values()]
    const text = JSON.stringify(kinds.map((kind) => [this.isWide(kind), this.of(kind)]))
    if (text === this.#text) return
    this.#text = text
    this.#options.changed()
  }

  /**
   * Whether it is not urgent to look again: the account may list every kind in every namespace, or in none of many, such
   * as a wide account that may not list Secrets.
   */
  get #isSettled(): boolean {
    const { size } = this.#rules
    return [...this.#kinds.values()].every((resource) => {
      const { length } = this.of(resource)
      return length === size || (length === 0 && size > manyNamespaces)
    })
  }

  async #rulesIn(
    requests: AccountRequests,
    namespace: string,
    signal: AbortSignal,
  ): Promise<NamespaceRules> {
    const answer = await accountReview(postBy(requests, signal), 'SelfSubjectRulesReview', {
      namespace,
    })
    const rules = itemsOf(answer['resourceRules'])
      .map(ruleOf)
      .filter((rule) => rule !== undefined)
    const isIncomplete = answer['incomplete'] === true
    const reviewed = new Set<string>()
    if (isIncomplete) {
      // Few authorizers cannot list their rules; then each kind is asked about.
      const open = [...this.#kinds].filter(
        ([, resource]) => !verbs.every((verb) => allows(rules, verb, resource)),
      )
      await boundedParallel(open, requestsAtOnce, async ([name, resource]) => {
        if (await mayList(requests, resource, namespace, signal)) reviewed.add(name)
      })
    }
    return { rules, isIncomplete, reviewed }
  }
}

const verbs = ['list', 'watch']

function allows(rules: readonly Rule[], verb: string, { group, resource }: ApiResource): boolean {
  return rules.some(
    (rule) =>
      (rule.verbs.includes(verb) || rule.verbs.includes('*')) &&
      (rule.groups.includes(group) || rule.groups.includes('*')) &&
      (rule.resources.includes(resource) || rule.resources.includes('*')),
  )
}

/** `undefined` for a rule about single objects. */
function ruleOf(value: unknown): Rule | undefined {
  const rule = fieldsOf(value)
  if (itemsOf(rule['resourceNames']).length > 0) return undefined
  const texts = (name: string): readonly string[] => {
    const given = rule[name]
    return Array.isArray(given) ? given.filter((one) => typeof one === 'string') : []
  }
  return { verbs: texts('verbs'), groups: texts('apiGroups'), resources: texts('resources') }
}

async function mayList(
  requests: AccountRequests,
  { group, resource }: ApiResource,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const post = postBy(requests, signal)
  for (const verb of verbs) {
    // oxlint-disable-next-line no-await-in-loop -- most answers to the first are no
    if (!(await accountMay(post, { verb, group, resource, namespace }))) return false
  }
  return true
}

function postBy(requests: AccountRequests, signal: AbortSignal): Post {
  return (path, body) => requests.request('POST', path, { body, signal, deadlineMs })
}

/** The namespaces that the account may list; else that of its own context. */
async function namespacesOf(
  requests: AccountRequests,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const list = await requests.request('GET', '/api/v1/namespaces', { signal, deadlineMs })
    return itemsOf(fieldsOf(list)['items']).flatMap((item) => {
      const name = textOf(fieldsOf(fieldsOf(item)['metadata'])['name'])
      return name === undefined ? [] : [name]
    })
  } catch (error) {
    const isRefused = error instanceof ApiStatusError && error.httpStatus === 403
    if (!isRefused) throw error
    return requests.namespace === undefined ? [] : [requests.namespace]
  }
}
