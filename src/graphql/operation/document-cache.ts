import { LRUCache } from 'lru-cache'

/** Texts that are remembered, in UTF-16 units; what a document becomes takes some thirty times as much. */
const maxUnits = 1_000_000
const maxDocuments = 1_000

/** What documents have become, by their text; bounded, those that were not asked for the longest go first. */
export function documentCache<T extends object>(): LRUCache<string, T> {
  return new LRUCache<string, T>({
    max: maxDocuments,
    maxSize: maxUnits,
    sizeCalculation: (_, source) => source.length + 1,
  })
}
