/*
 * The resume token of a list over clusters of several gateways: the token of each of them, and which clusters it is about. A
 * client passes it to any gateway. It is followed on as long as each part's clusters still have one holder in common;
 * otherwise the list begins anew. Like every token it is unsigned: what it names is compared with the clusters that the
 * request itself names, and each holder checks its own part.
 */

import { encodeFields, fieldsOf, isText } from '../../query/page/cursor.ts'
import { decodeResumeToken } from '../reads/resume-token.ts'
import type { PresentHolder } from './merged-part.ts'
import { joinedHash } from '../prepare/viewer-access.ts'

/** The clusters that a gateway answers for, and its token for them. */
export interface TokenPart {
  readonly clusters: readonly string[]
  readonly token: string
}

/** Other than the versions of the tokens of single gateways. */
const version = 100
/** A list of more parts, or with longer tokens, has a token that begins anew. */
const maxParts = 64
const maxLength = 262_144
/** The characters that stand for the parts. */
const firstPart = 48

/** The token of a list. Parts of which one has no token make a token that begins anew. */
export function encodeMergedToken(parts: readonly TokenPart[]): string {
  const none = encodeFields([version])
  if (parts.length > maxParts || parts.some(({ token }) => token === '')) return none
  const owner = new Map<string, number>()
  for (const [at, { clusters }] of parts.entries()) for (const name of clusters) owner.set(name, at)
  const names = [...owner.keys()].toSorted()
  const owners = names.map((name) => String.fromCharCode(firstPart + (owner.get(name) ?? 0)))
  const tokens = parts.map(({ token }) => token)
  const token = encodeFields([version, joinedHash(names), owners.join(''), ...tokens])
  return token.length > maxLength ? none : token
}

/** A part of a token, and who holds all of its clusters now. */
type HeldPart = TokenPart & { readonly holder: PresentHolder }

/**
 * The parts that a token leads to, for a list of these clusters; `undefined` if the list must begin anew. Throws
 * `ArgumentError` for a text that is no token.
 */
export function partsToResume(
  text: string,
  clusters: readonly string[],
  holderOf: (cluster: string) => PresentHolder,
): readonly HeldPart[] | undefined {
  const parts = mergedTokenParts(text, clusters)
  // The token of a gateway that held all.
  if (parts === undefined && decodeResumeToken(text) === undefined) return undefined
  const held = (parts ?? [{ clusters, token: text }]).map((part) => ({
    ...part,
    holders: new Set(part.clusters.map(holderOf)),
  }))
  if (held.length === 0 || held.some(({ holders }) => holders.size !== 1)) return undefined
  return held.map(({ holders: [holder], ...part }) => ({ ...part, holder }))
}

/** The parts of a token for these clusters; `undefined` for any other text. */
function mergedTokenParts(
  text: string,
  clusters: readonly string[],
): readonly TokenPart[] | undefined {
  const [of, hash, owners, ...tokens] = fieldsOf(text, maxLength) ?? []
  const names = clusters.toSorted()
  if (of !== version || hash !== joinedHash(names)) return undefined
  if (!isText(owners) || owners.length !== names.length || !tokens.every(isText)) return undefined
  const parts = tokens.map((token) => ({ token, clusters: [] as string[] }))
  for (const [at, name] of names.entries()) {
    const part = parts[owners.charCodeAt(at) - firstPart]
    if (part === undefined) return undefined
    part.clusters.push(name)
  }
  return parts
}
