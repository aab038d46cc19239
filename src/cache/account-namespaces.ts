/*
 * Finds the namespaces in which the gateway's account may list and watch a kind. It sends one SelfSubjectRulesReview for
 * each namespace, and repeats the round every few seconds, since no watch reports the rights of an account. Every account
 * may read its own rules. The rounds start with the first kind that needs them.
 *
 * It examines the configured namespaces; by default the namespaces that the account may list; if it may list none, the
 * namespace of its own context.
 */

import { accountMay, accountReview, type Post } from '../api-server/account-review.ts'
import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../kubernetes/fields.ts'
import { allowsResource } from '../kubernetes/rbac.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import type { PolicyRule } from '../kubernetes/wire/rbac-v1.ts'
import { sleep } from '../lib/backoff.ts'
import { boundedParallel } from '../lib/concurrency.ts'

/** Requests to an API server with the gateway's own account. */
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

/** The shortest pause between two rounds. */
const periodMs = 4_000
/** With many namespaces, the pause grows by this time for each. */
const perNamespaceMs = 100
/** If no change is likely, the pause is this many times longer. */
const settledFactor = 5
const manyNamespaces = 40
/** The pause before a round that was requested. */
const soonMs = 300
const deadlineMs = 10_000
const maxNamespaces = 5_000
const requestsAtOnce = 8
/** After this many rounds, asks again whether the account may list kinds in all namespaces. */
const roundsPerWideReview = 8

/** The rights of the account in one namespace. */
interface NamespaceRules {
  readonly rules: readonly PolicyRule[]
  /** Another authorizer than RBAC may allow more than the rules say. */
  readonly isIncomplete: boolean
  /** What other authorizers allow besides: `pods`, `deployments.apps`. */
  readonly reviewed: ReadonlySet<string>
}

export class AccountNamespaces {
  readonly #options: AccountNamespacesOptions
  readonly #excluded: ReadonlySet<string>
  /** The kinds that are cached for single namespaces. */
  readonly #kinds = new Map<string, ApiResource>()
  #rules: ReadonlyMap<string, NamespaceRules> = new Map()
  /** The kinds that may be listed in all namespaces. */
  #wide: ReadonlySet<string> = new Set()
  #text = ''
  #rounds = 0
  /** The numbers of rounds that have begun and ended, successful or not. */
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

  /** Whether a round has succeeded. */
  get isKnown(): boolean {
    return this.#rounds > 0
  }

  /** The namespaces to examine, as far as they are known. */
  get known(): readonly string[] {
    if (this.#rules.size > 0) return [...this.#rules.keys()]
    const { namespaces, requests } = this.#options
    const own = requests()?.namespace
    const found = namespaces ?? (own === undefined ? [] : [own])
    return found.filter((name) => !this.#excluded.has(name))
  }

  /** Whether the account may list and watch a kind in all namespaces, as last reviewed. */
  isWide(resource: ApiResource): boolean {
    return this.#wide.has(groupResourceOf(resource))
  }

  /** Asks the same now; `undefined` if that is not known. Never rejects. */
  async mayListAll(resource: ApiResource, signal: AbortSignal): Promise<boolean | undefined> {
    const requests = this.#options.requests()
    return requests && (await mayList(requests, resource, '', signal).catch(() => undefined))
  }

  /**
   * Follows a kind that is cached for single namespaces, until the signal of the first call. Resolves when the rules for it
   * are known: at once if a round has just ended, unless `isAgain`.
   */
  async follow(resource: ApiResource, signal: AbortSignal, isAgain: boolean): Promise<void> {
    this.#kinds.set(groupResourceOf(resource), resource)
    this.#running ??= this.#run(signal)
    const isFresh = performance.now() - this.#readMs < periodMs
    const isWhole = [...this.#rules.values()].every(({ isIncomplete }) => !isIncomplete)
    if (!isAgain && isFresh && isWhole) return
    // Requests a round, and waits for one that begins after this call.
    const wanted = this.#begun + 1
    this.#isDue = true
    this.#wake?.resolve()
    while (this.#ended < wanted && !signal.aborted) await this.#next.promise
  }

  /** Requests a round: the account or its credentials have changed. */
  renewed(): void {
    this.#isWideDue = true
    this.#isDue = true
    this.#wake?.resolve()
  }

  forget(resource: ApiResource): void {
    this.#kinds.delete(groupResourceOf(resource))
  }

  /** Resolves when the rounds have ended, after the signal. */
  async ended(): Promise<void> {
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    // The caller has to wait for the first round before it begins.
    await Promise.resolve()
    while (!signal.aborted) {
      this.#isDue = false
      this.#begun += 1
      if (this.#kinds.size > 0) await this.#round(signal)
      this.#ended = this.#begun
      const { resolve } = this.#next
      this.#next = Promise.withResolvers()
      resolve()
      // Waits until the next round is due or requested.
      if (!this.#isDue) {
        this.#wake = Promise.withResolvers()
        const woken = new AbortController()
        void this.#wake.promise.then(() => woken.abort())
        const slowly = this.#isSettled ? settledFactor : 1
        const pauseMs = slowly * Math.max(periodMs, this.#rules.size * perNamespaceMs)
        await sleep(pauseMs, AbortSignal.any([signal, woken.signal]))
      }
      // One round serves the requests of one moment. Constant requests cannot make rounds more frequent than this.
      await sleep(soonMs, signal)
    }
    this.#ended = Infinity
    this.#next.resolve()
  }

  /** Reads the rules once. A failure leaves the known rules as they are. */
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
      // The cluster is unreachable, or a namespace was just deleted.
      return
    }
    const kinds = [...this.#kinds.values()]
    const text = JSON.stringify(kinds.map((kind) => [this.isWide(kind), this.of(kind)]))
    if (text === this.#text) return
    this.#text = text
    this.#options.changed()
  }

  /**
   * Whether the next round is not urgent: the account may list each kind in every namespace, or in none of many
   * namespaces, such as a powerful account that may not list Secrets.
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
    const rules = itemsOf(answer['resourceRules']).map(ruleOf)
    const isIncomplete = answer['incomplete'] === true
    const reviewed = new Set<string>()
    if (isIncomplete) {
      // Few authorizers cannot list their rules. For these, each kind takes a review.
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

function allows(
  rules: readonly PolicyRule[],
  verb: string,
  { group, resource }: ApiResource,
): boolean {
  const asked = { verb, at: { group, resource, subresource: '' }, name: '' }
  return rules.some((rule) => allowsResource(rule, asked))
}

function ruleOf({ verbs: given, apiGroups, resources, resourceNames }: Fields): PolicyRule {
  return {
    verbs: textsOf(given),
    apiGroups: textsOf(apiGroups),
    resources: textsOf(resources),
    resourceNames: textsOf(resourceNames),
  }
}

async function mayList(
  requests: AccountRequests,
  { group, resource }: ApiResource,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const post = postBy(requests, signal)
  for (const verb of verbs) {
    if (!(await accountMay(post, { verb, group, resource, namespace }))) return false
  }
  return true
}

function postBy(requests: AccountRequests, signal: AbortSignal): Post {
  return (path, body) => requests.request('POST', path, { body, signal, deadlineMs })
}

/** The namespaces of the cluster; if the account may not list them, the namespace of its own context. */
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
