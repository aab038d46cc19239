/*
 * Follows a directory of kubeconfigs, whose files may come, change and go. It reads no subdirectories, and no files whose
 * name begins with a dot. An unusable file leaves its clusters as they are, and is read again when it changes.
 */

import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { ClusterConfigError } from '../../api-server/kubeconfig/cluster-config.ts'
import {
  type Kubeconfig,
  readKubeconfig,
  resolveContext,
} from '../../api-server/kubeconfig/kubeconfig.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { changesOf } from '../../lib/file-follower.ts'
import {
  type ClusterLabels,
  type ClusterSource,
  type SourcedCluster,
  type SourceState,
  withDefaultsOf,
} from './cluster-source.ts'

export interface DirectorySourceOptions {
  readonly type: 'directory'
  readonly path: string
  /**
   * `current`: the current context of each file, named as the file without its extension. `all`: every context, by its
   * own name. Default `current`.
   */
  readonly contexts?: 'current' | 'all'
  /** Put before the name of each cluster. */
  readonly prefix?: string
  /** Labels of each cluster of the directory. */
  readonly labels?: ClusterLabels
}

/** Files with other extensions are keys, certificates or notes. */
const extensions: readonly string[] = [
  '',
  '.yaml',
  '.yml',
  '.json',
  '.conf',
  '.config',
  '.kubeconfig',
]
const maxFiles = 2_000

export class DirectorySource implements ClusterSource {
  readonly name: string
  readonly #options: DirectorySourceOptions
  /** The clusters of each file when it was last readable. */
  #ofFiles: ReadonlyMap<string, readonly SourcedCluster[]> = new Map()

  constructor(options: DirectorySourceOptions) {
    this.name = `directory ${options.path}`
    this.#options = options
  }

  async *follow(signal: AbortSignal): AsyncIterable<SourceState> {
    for await (const found of changesOf(() => this.#files(), signal)) {
      let problem = found instanceof Error ? found : undefined
      if (!(found instanceof Error)) {
        this.#ofFiles = new Map(found.files.map(({ file }) => [file, this.#clustersOf(file)]))
        if (found.names > maxFiles) {
          const text = `has ${found.names} kubeconfigs, of which the first ${maxFiles} by name are read`
          const hint = 'serve the others by gateways of their own'
          const { path: value } = this.#options
          problem = new CodedError('TOO_MANY_CLUSTERS', text, { value, hint })
        }
      }
      yield { clusters: [...this.#ofFiles.values()].flat(), problem }
    }
  }

  /** The first kubeconfig files by name, each with a text that changes when the file does, and the number of all names. */
  async #files(): Promise<FoundFiles | Error> {
    const { path } = this.#options
    try {
      const names = (await readdir(path))
        .filter((name) => !name.startsWith('.') && extensions.includes(extname(name)))
        .toSorted()
      const files = await Promise.all(
        names.slice(0, maxFiles).map(async (name) => {
          const file = join(path, name)
          const found = await stat(file).catch(() => undefined)
          if (found === undefined || !found.isFile()) return []
          const { ino, size, mtimeMs, ctimeMs } = found
          return [{ file, state: [ino, size, mtimeMs, ctimeMs].join(':') }]
        }),
      )
      return { files: files.flat(), names: names.length }
    } catch (error) {
      const cause = error as Error
      const problem = `the directory of kubeconfigs cannot be read: ${cause.message}`
      const hint = 'make the directory readable for the user of this process'
      return new CodedError('SOURCE_UNREADABLE', problem, { value: path, cause, hint })
    }
  }

  #clustersOf(file: string): readonly SourcedCluster[] {
    const source = `directory ${basename(file)}`
    const stem = basename(file, extname(file))
    const unusable = (error: Error): readonly SourcedCluster[] => {
      const before = this.#ofFiles.get(file) ?? [
        withDefaultsOf(this.#options, { name: stem, labels: {}, source, place: brokenBy(error) }),
      ]
      return before.map((cluster) => ({ ...cluster, place: brokenBy(error) }))
    }
    let kubeconfig: Kubeconfig | undefined
    try {
      kubeconfig = readKubeconfig(file)
    } catch (error) {
      return unusable(error as Error)
    }
    // The file was just deleted. The next look notices it.
    if (kubeconfig === undefined) return this.#ofFiles.get(file) ?? []
    if (kubeconfig.contexts.size === 0) {
      const problem = `kubeconfig ${file}: it has no contexts`
      const details = { value: file, hint: 'remove the file, or write a kubeconfig into it' }
      return unusable(new ClusterConfigError('KUBECONFIG_INVALID', problem, details))
    }
    const { currentContext, contexts } = kubeconfig
    if (this.#options.contexts === 'all') {
      return Array.from(contexts.keys(), (name) => this.#cluster(kubeconfig, name, name, source))
    }
    return [this.#cluster(kubeconfig, currentContext, stem, source)]
  }

  #cluster(
    kubeconfig: Kubeconfig,
    context: string | undefined,
    name: string,
    source: string,
  ): SourcedCluster {
    try {
      const config = resolveContext(kubeconfig, context === undefined ? {} : { context })
      const place = { form: 'config', config } as const
      return withDefaultsOf(this.#options, { name, labels: config.labels ?? {}, source, place })
    } catch (error) {
      const place = brokenBy(error as Error)
      return withDefaultsOf(this.#options, { name, labels: {}, source, place })
    }
  }
}

interface FoundFiles {
  readonly files: readonly { readonly file: string; readonly state: string }[]
  readonly names: number
}

function brokenBy(error: Error): SourcedCluster['place'] {
  return { form: 'unusable', error }
}
