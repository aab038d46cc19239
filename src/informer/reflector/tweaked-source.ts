import type { ListerWatcher, ListOptions, WatchOptions } from './lister-watcher.ts'

/** Changes the query parameters of every request (client-go's `TweakListOptionsFunc`). Returns the options to send. */
export type TweakListOptions = <T extends ListOptions | WatchOptions>(options: T) => T

/** A source whose every request is tweaked. */
export function tweakedSource(source: ListerWatcher, tweak: TweakListOptions): ListerWatcher {
  return {
    list: (options, signal) => source.list(tweak(options), signal),
    watch: (options, signal) => source.watch(tweak(options), signal),
  }
}
