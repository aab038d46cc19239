import { totalmem } from 'node:os'
import { constrainedMemory } from 'node:process'
import { getHeapStatistics } from 'node:v8'

/**
 * The memory of this process, from which its default bounds follow. Objects, indexes, rows, texts and plans are on V8's
 * heap: its limit, which Node takes from its flags or from the machine, ends the process. Frames and what waits to be
 * sent are beside it, in what the container has left. The parts below are those of the heap; a quarter stays for the
 * schema and the program (about 60 MB), for operations while they run, and for lists that replace what is cached.
 */
const heapParts = {
  caches: 0.45,
  subscriptions: 0.15,
  writes: 0.04,
  logs: 0.02,
  texts: 0.05,
  documents: 0.05,
  /** Of one resource. It counts for the caches. */
  recentChanges: 0.015,
  /** Of one resource. They count for the caches. */
  templateAnswers: 0.025,
} as const

/** The most live heap, bytes. */
export const heapBytes: number = getHeapStatistics().heap_size_limit

/** The memory of the container, or of the machine, bytes. */
export const processBytes: number = Math.min(totalmem(), constrainedMemory() || Infinity)

/** The bytes of a part of the heap, and at most `most`. */
export function heapShare(part: keyof typeof heapParts, most: number = Infinity): number {
  return Math.floor(Math.min(heapBytes * heapParts[part], most))
}

/** The bytes of a part of the memory beside the heap: at most `most`, and at least a quarter of that. */
export function besideHeap(part: number, most: number): number {
  const beside = (processBytes - heapBytes) * part
  return Math.floor(Math.min(Math.max(beside, most / 4), most))
}

/** Whether nearly all of the heap is in use, although V8 collects more and more of it before it gets there. */
export function isHeapFull(): boolean {
  return getHeapStatistics().used_heap_size > heapBytes * 0.9
}
