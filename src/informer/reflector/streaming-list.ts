import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import { readErrorEvent, readWatchFrame } from '../../kubernetes/watch-event.ts'
import { WatchListRefusedError } from './reflector-errors.ts'
import type { ListClock } from './list-stages.ts'
import type { ReflectorTarget } from './reflector-target.ts'
import type { StoreContents } from '../store/store-contents.ts'
import type { WatchStream } from './watch-stream.ts'

export interface StreamingListOptions {
  /** For messages: `pods`. */
  readonly resourceName: string
  readonly target: ReflectorTarget
  readonly clock: ListClock
  /** How long the stream may be silent, milliseconds. */
  readonly silenceMs: number
  /** How long all initial events together may take, milliseconds. */
  readonly deadlineMs: number
}

/** The initial events of a watch, collected: a whole list, not yet visible to anyone. */
export interface StreamedList {
  readonly contents: StoreContents
  readonly resourceVersion: ResourceVersion
}

/**
 * Reads a watch that was opened with `sendInitialEvents` up to the bookmark that ends its initial events (KEP-3157).
 * The stream is then a plain watch from the list's resource version on.
 *
 * Servers before 1.27 do not know the parameter: they send what there is, then changes, and never the bookmark. So
 * there are two deadlines. Silence shows such a server where nothing changes; where something always does, only the
 * time that the whole takes. Both reject with a lasting {@link WatchListRefusedError}.
 */
export async function receiveInitialEvents(
  stream: WatchStream,
  options: StreamingListOptions,
): Promise<StreamedList> {
  const { clock, deadlineMs, resourceName, silenceMs } = options
  const contents = options.target.stage()
  let isFirst = true
  while (true) {
    const leftMs = Math.max(0, deadlineMs - stream.ageMs)
    const limit =
      silenceMs <= leftMs
        ? { ms: silenceMs, late: () => refused(`was silent for ${silenceMs} ms`) }
        : {
            ms: leftMs,
            late: () => refused(`has not ended its initial events in ${deadlineMs} ms`),
          }
    const next = stream.next(limit)
    const frames = await (isFirst ? clock.untilFirstByte(next) : next)
    isFirst = false
    if (frames === undefined) {
      throw new WatchListRefusedError(resourceName, 'ended before its initial events did', false)
    }
    for (const [position, frame] of frames.entries()) {
      const end = collect(frame, contents, options)
      if (end !== undefined) {
        stream.unread(frames.slice(position + 1))
        return { contents, resourceVersion: end }
      }
    }
  }

  function refused(problem: string): WatchListRefusedError {
    return new WatchListRefusedError(resourceName, problem, true)
  }
}

/** The resource version of the list when the frame was the bookmark that ends it. */
function collect(
  frame: Uint8Array,
  contents: StoreContents,
  { resourceName, target }: StreamingListOptions,
): ResourceVersion | undefined {
  const { type, object } = readWatchFrame(frame)
  if (type === 'ERROR') throw readErrorEvent(resourceName, object)
  if (type === 'BOOKMARK') {
    const bookmark = target.takeBookmark(object)
    return bookmark?.endsInitialEvents === true ? bookmark.resourceVersion : undefined
  }
  const intake = target.take(object)
  if (intake === undefined) return undefined
  const { key, entry } = intake
  if (type === 'DELETED' || entry === undefined) contents.remove(key)
  else contents.put(entry)
  return undefined
}
