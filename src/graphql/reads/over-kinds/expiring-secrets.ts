/*
 * TLS Secrets whose certificate is past its end or near it (the rule `expiringTlsSecrets`). The gateway looks for them only if
 * it serves the data of Secrets (`secretData`), and tells a caller of those whose data the caller may get. A query of one
 * cluster waits for the dates (`CertificateEnds`); other ones and subscriptions have them when they have been read.
 */

import { type CertificateEnd, certificateEndsOf } from '../../../cache/certificate-ends.ts'
import { splitObjectKey } from '../../../kubernetes/object.ts'
import { certificateFacts, lastDaysMs } from '../../../kubernetes/problems/problem-rules.ts'
import { type DecodedFact, isOver } from '../../../kubernetes/problems/problem-fact.ts'
import type { Found } from '../../../query/problems/problem-fold.ts'
import { holds, isShown, type ProblemPart } from '../../../query/problems/problem-part.ts'
import { isReachable, type KindView } from '../../prepare/kind-view.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { canDo } from '../permissions.ts'
import type { ReadRun } from '../read-run.ts'

/** The most Secrets of a cluster that one answer asks about. */
const maxAsked = 100
/** Comparing the dates of a Secret takes as long as so many tests. */
const testsPerEnd = 2

/**
 * The Secrets of a cluster that the caller may know of, each with what is wrong with it now. `waits`: whether the operation runs
 * again when old dates have been read.
 */
export function expiringSecrets<P extends ProblemPart & KindView>(
  run: ReadRun,
  parts: readonly P[],
  nowMs: number,
  namespaces: ReadonlySet<string> | undefined,
  waits: boolean,
): readonly Found<P>[] {
  const { served, budget } = run
  const part = parts.find((one) => holds(one, '', 'Secret'))
  const cache = part && served.clusters.get(part.cluster)
  if (part === undefined || cache === undefined) return []
  if (served.problemRulesOff.has('expiringTlsSecrets')) return []
  const { view, kind } = part
  const ends = certificateEndsOf(cache)
  const state = view.index('uid').revision
  if (ends.isOld(state) && isReachable(served, part.cluster)) {
    if (waits) run.direct.certificateEnds(part, state)
    else void ends.read(kind.resource, state)
  }
  budget.spend('tests', testsPerEnd * ends.byUid.size)
  const found: Found<P>[] = []
  let asked = 0
  for (const [uid, { resourceVersion, ...end }] of ends.byUid) {
    const fact = factNow(end, nowMs)
    const id = fact && view.idOfUid(uid)
    if (fact === undefined || id === undefined) continue
    if (asked === maxAsked || !isShown(part, id, namespaces)) continue
    // Another version may have another certificate.
    if (view.object(id).metadata.resourceVersion !== resourceVersion) continue
    const at = splitObjectKey(view.keyOf(id))
    asked += 1
    if (canDo(run, part, at, { verb: 'get' }) === true) found.push({ part, id, fact })
  }
  return found
}

/** Differs when another set of Secrets is past its end or near it. Subscriptions ask again and again, so it keeps the dates young. */
export function expiringState({ clusters, problemRulesOff }: ServedSchema, name: string): string {
  const cache = clusters.get(name)
  if (cache === undefined || problemRulesOff.has('expiringTlsSecrets')) return ''
  const ends = certificateEndsOf(cache)
  ends.refresh()
  const { byUid, revision } = ends
  const nowMs = Date.now()
  let due = 0
  for (const end of byUid.values()) {
    const reason = factNow(end, nowMs)?.reason
    if (reason !== undefined) due += reason === 'Expired' ? 2 : 1
  }
  return `${revision} ${due}`
}

function factNow(
  { notBeforeMs, notAfterMs }: Pick<CertificateEnd, 'notBeforeMs' | 'notAfterMs'>,
  nowMs: number,
): DecodedFact | undefined {
  // Most are far from their end.
  if (notAfterMs - nowMs > lastDaysMs) return undefined
  const [notBefore, notAfter] = [notBeforeMs, notAfterMs].map(
    (ms) => `${new Date(ms).toISOString().slice(0, 19)}Z`,
  )
  const fact = certificateFacts({ notBefore, notAfter }).find(
    (one) => Date.parse(one.at ?? '') <= nowMs && !isOver(one, nowMs),
  )
  return fact && { ...fact, sinceMs: Date.parse(fact.since ?? '') }
}
