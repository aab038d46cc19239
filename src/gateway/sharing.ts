import { archivePlace, type ArchiveOptions } from '../archive/archive-options.ts'
import { InvalidOptionError } from '../lib/options.ts'

/** How this gateway shares the clusters with others. */
export interface ShareOptions {
  /** The address at which the other gateways reach this one, as `http://10.0.0.7:4000`. Absent: clusters are not shared. */
  readonly address?: string | undefined
  /** The file of the CA that has signed the certificates of the other gateways. Default: those that Node trusts. */
  readonly caFile?: string | undefined
  /**
   * The file of a client certificate. By it the other gateways trust the headers that name a caller (`auth.mode: request-header`), and it
   * is sent for such callers only.
   */
  readonly certFile?: string | undefined
  /** The file of its key. */
  readonly keyFile?: string | undefined
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
