import { indexesOf } from '../../query/condition/condition.ts'
import type { Kind } from '../model/kind.ts'
import type {
  ListSubscriptionArguments,
  LivePageArguments,
  LookupSubscriptionArguments,
} from '../schema/read-arguments.ts'
import type { Frame, LivePage, LiveSource } from '../schema/read-context.ts'
import { idsCondition } from '../reads/ids-condition.ts'
import { LiveFilter } from './live-filter.ts'
import { liveFrames } from './live-frames.ts'
import { livePages } from './live-page.ts'
import { listRequest } from '../reads/list-read.ts'
import { filterParts } from '../reads/filter-parts.ts'
import {
  checkedCoalesceMs,
  type FollowedList,
  listToFollow,
  objectToFollow,
  pageToFollow,
} from './followed-list.ts'
import { accessFingerprint } from '../prepare/access-fingerprint.ts'
import { decodeResumeToken } from '../reads/resume-token.ts'
import { liveScope } from './live-scope.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'

import type { ViewerAccess } from '../prepare/viewer-access.ts'

export interface LiveReaderOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  /** Settled when the subscription is opened; their leases must last as long as it does. */
  readonly kinds: ReadSnapshot
  /** What the viewer may see; absent: everything. */
  readonly access: ViewerAccess | undefined
}

/** Opens the frames of subscriptions. */
export class LiveReader implements LiveSource {
  readonly #options: LiveReaderOptions

  constructor(options: LiveReaderOptions) {
    this.#options = options
  }

  subscribe(kind: Kind, args: ListSubscriptionArguments): AsyncIterable<Frame> {
    return this.#frames(listToFollow(this.#options.served, kind, args), args)
  }

  subscribeOne(kind: Kind, args: LookupSubscriptionArguments): AsyncIterable<Frame> {
    return this.#frames(objectToFollow(this.#options.served, kind, args), args)
  }

  subscribePage(kind: Kind, args: LivePageArguments): AsyncIterable<LivePage> {
    const { served, limits, kinds, access } = this.#options
    const followed = pageToFollow(served, kind, args, limits.maxPageSize)
    const { at, within, condition, list } = followed
    const reading = { watch: true, within: () => within }
    const part = kinds.part(at, reading)
    const { resumeFrom = null } = args
    if (resumeFrom !== null) decodeResumeToken(resumeFrom)
    for (const index of indexesOf(condition)) part.view.index(index)
    return livePages({
      ...part,
      list,
      informer: kinds.informer(at, reading),
      place: { list: kind.listField, condition: idsCondition(args.ids, at) },
      request: listRequest(served, kind, args),
      related: filterParts(served, kinds),
      filter: this.#filter(followed),
      live: access && liveScope(access, at, within),
      coalesceMs: checkedCoalesceMs(args.coalesceMs) ?? limits.coalesceMs,
      maxPageSize: limits.maxPageSize,
      work: limits.work,
    })
  }

  #filter(list: FollowedList): LiveFilter | undefined {
    if (list.concerned === undefined) return undefined
    const { limits, ...rest } = this.#options
    const { work, syncDeadlineMs } = limits
    return new LiveFilter({ ...rest, list, work, syncDeadlineMs })
  }

  #frames(
    followed: FollowedList,
    { coalesceMs, resumeFrom }: ListSubscriptionArguments,
  ): AsyncIterable<Frame> {
    const { limits, kinds, access } = this.#options
    const { at, condition, within, list } = followed
    const reading = { watch: true, within: () => within }
    const part = kinds.part(at, reading)
    if (resumeFrom !== undefined && resumeFrom !== null) decodeResumeToken(resumeFrom)
    // Before the first frame: an index that is missing is made then, and the subscription opened again.
    for (const index of indexesOf(condition)) part.view.index(index)
    return liveFrames({
      ...part,
      informer: kinds.informer(at, reading),
      condition,
      list,
      access: accessFingerprint([part]),
      live: access && liveScope(access, at, within),
      filter: this.#filter(followed),
      coalesceMs: checkedCoalesceMs(coalesceMs) ?? limits.coalesceMs,
      maxFrameObjects: limits.maxFrameObjects,
      work: limits.work,
    })
  }
}
