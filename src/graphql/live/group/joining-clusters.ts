import { Backoff, sleep } from '../../../lib/backoff.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { KindLeases } from '../../prepare/kind-leases.ts'
import { notLoaded } from '../../prepare/read-snapshot.ts'
import { ViewerAccess } from '../../prepare/viewer-access.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import type { FollowedList } from '../followed-list.ts'
import {
  type AccessRequest,
  GroupAccess,
  isPassing,
  type ListAccess,
  resolveAccess,
  type WantedGroup,
  type WantedList,
} from './group-access.ts'

/** A list, and what the members may see of it. */
export interface ListEntry {
  readonly wanted: WantedList
  readonly access: ListAccess | ClientError
  readonly request: AccessRequest
}

/** The parts of a group that clusters join. */
export interface JoinedGroup {
  readonly wanted: WantedGroup
  readonly isOver: boolean
  readonly memberships: Iterable<{ readonly access: ViewerAccess }>
  readonly options: {
    readonly isViewed: boolean
    readonly served: ServedSchema
    readonly prepared: KindLeases
  }
  readonly changes: { stateChanged(): void }
  /** The reads of lists to review a viewer's access for. */
  requestsOf(lists: readonly WantedList[]): readonly AccessRequest[]
  /** Resolves when the group has begun. */
  begun(): Promise<void>
  failed(error: unknown): void
}

interface JoiningList {
  readonly wanted: WantedList
  readonly error: ClientError
}

/**
 * The lists of clusters that join a group: each becomes one of the group's as soon as it is known what the members may
 * see of it. A change of the fleet begins anew.
 */
export class JoiningClusters {
  readonly #group: JoinedGroup
  #lists: readonly JoiningList[] = []
  #change = new AbortController()

  constructor(group: JoinedGroup) {
    this.#group = group
  }

  /** The lists that wait, and why. */
  get waiting(): readonly { readonly list: FollowedList; readonly error: ClientError }[] {
    return this.#lists.map(({ wanted: { list }, error }) => ({ list, error }))
  }

  /** These lists join now, and no others. `joined` receives those of one cluster after the other. */
  begin(lists: readonly WantedList[], joined: (entries: readonly ListEntry[]) => void): void {
    this.close()
    this.#change = new AbortController()
    const names = new Set(lists.map(nameOfList))
    this.#lists = this.#lists.filter(({ wanted }) => names.has(nameOfList(wanted)))
    for (const ofCluster of Map.groupBy(lists, ({ list }) => list.at.cluster).values()) {
      void this.#join(ofCluster, joined).catch((error: unknown) => this.#group.failed(error))
    }
  }

  close(): void {
    this.#change.abort()
  }

  async #join(
    lists: readonly WantedList[],
    joined: (entries: readonly ListEntry[]) => void,
  ): Promise<void> {
    const group = this.#group
    const { signal } = this.#change
    await group.begun()
    const backoff = new Backoff({ initialMs: 100, maxMs: 5_000 })
    const requests = group.requestsOf(lists)
    // A look at the state tells of it, if it takes longer.
    this.#wait(lists, (wanted) => notLoaded(wanted.list.at))
    while (!signal.aborted && !group.isOver) {
      // oxlint-disable-next-line no-await-in-loop -- tries again and again
      const access = await this.#known(requests)
      if (signal.aborted || group.isOver) return
      const entries = lists.flatMap((wanted, at): ListEntry[] => {
        const [of, request] = [access[at], requests[at]]
        return of && request ? [{ wanted, access: of, request }] : []
      })
      const errors = new Map(
        entries.flatMap(({ wanted, access: of }) =>
          of instanceof ClientError && isPassing(of) ? [[wanted, of]] : [],
        ),
      )
      this.#wait(lists, (wanted) => errors.get(wanted))
      if (errors.size === 0) {
        joined(entries)
        return
      }
      group.changes.stateChanged()
      // oxlint-disable-next-line no-await-in-loop -- as above
      await sleep(backoff.nextMs(), signal)
    }
  }

  #wait(
    lists: readonly WantedList[],
    errorOf: (wanted: WantedList) => ClientError | undefined,
  ): void {
    const names = new Set(lists.map(nameOfList))
    const others = this.#lists.filter(({ wanted }) => !names.has(nameOfList(wanted)))
    const waiting = lists.flatMap((wanted): JoiningList[] => {
      const error = errorOf(wanted)
      return error === undefined ? [] : [{ wanted, error }]
    })
    this.#lists = [...others, ...waiting]
  }

  async #known(requests: readonly AccessRequest[]): Promise<readonly (ListAccess | ClientError)[]> {
    const { isViewed, prepared } = this.#group.options
    const access = await this.#shared(requests)
    if (!isViewed) return access
    await prepared.prepare(new GroupAccess(access).visible)
    // The namespaces that have objects are known now.
    return await this.#shared(requests)
  }

  /** What most viewers in the group may see of lists. The others leave it. */
  async #shared(
    requests: readonly AccessRequest[],
  ): Promise<readonly (ListAccess | ClientError)[]> {
    const { options, wanted, memberships } = this.#group
    const { viewer } = wanted
    if (!options.isViewed || viewer === undefined) return await resolveAccess(undefined, requests)
    const members = Array.from(memberships, ({ access }) => access)
    const viewers = members.length > 0 ? members : [new ViewerAccess(options.served, viewer)]
    const all = await Promise.all(
      viewers.map((access) => {
        access.begin()
        return resolveAccess(access, requests)
      }),
    )
    const alike = Map.groupBy(all, (lists) => new GroupAccess(lists).fingerprint)
    const [most = []] = [...alike.values()].toSorted((a, b) => b.length - a.length)
    return most[0] ?? []
  }
}

/** The name of a list among those of a group. */
export function nameOfList({ list: { at } }: WantedList): string {
  return JSON.stringify([at.cluster, at.kind.typeName])
}
