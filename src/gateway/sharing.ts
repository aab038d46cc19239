import { archivePlace, type ArchiveOptions } from '../archive/archive-options.ts'
import { InvalidOptionError } from '../lib/options.ts'

/** How this gateway shares the clusters with others. */
export interface ShareOptions {
  /** The address at which the other gateways reach this one, as `http://10.0.0.7:4000`. Absent: clusters are not shared. */
  readonly address?: string | undefined
}

/** Throws `InvalidOptionError` unless gateways can share clusters by this archive. */
export function checkShare(
  share: ShareOptions | undefined,
  archive: Pick<ArchiveOptions, 'url'> | undefined,
): void {
  if (share?.address === undefined) return
  if (archive !== undefined && archivePlace(archive.url).form === 'postgres') return
  const problem = 'gateways share clusters (share.address) by a database that all of them reach'
  throw new InvalidOptionError('archive.url', archive?.url, 'the address of a Postgres', problem)
}

/** Whether a text is an address of a gateway: `http` or `https`, without a path. */
export function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, origin } = new URL(text)
  return /^https?:$/.test(protocol) && origin === text.replace(/\/$/, '')
}
