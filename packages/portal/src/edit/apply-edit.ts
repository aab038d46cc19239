import {
  ApplyManifestDocument,
  type ApplyManifestMutation,
  MergePatchDocument,
} from '../gateway/documents.ts'
import { type Gateway, GatewayError } from '../gateway/gateway.ts'
import type { SeenObject } from '../object/live-object.ts'
import {
  appliedPart,
  type Difference,
  differences,
  editableOf,
  type Kept,
  keptAt,
  mergePatch,
  overlap,
} from './editable.ts'

type Members = Readonly<Record<string, unknown>>

/** What a write has done, or would do. */
export type Written = NonNullable<NonNullable<ApplyManifestMutation['write']>[number]>

/** How an edit is written. */
export interface Edit {
  readonly object: SeenObject
  /** The state that the text was made of, and what it says now. */
  readonly base: Members
  readonly edited: Members
  /** Takes over the fields of other managers that it sets. */
  readonly force: boolean
  /** Removes fields of other managers, too: by a merge patch, as an apply cannot. */
  readonly asPatch: boolean
}

/** An edit as it was tried. */
export interface Review {
  readonly written: Written
  /** Fields that the text leaves out, and that stay: other managers have set them. */
  readonly staying: readonly Difference[]
  /** What to apply besides, so that it stays. */
  readonly kept: readonly Kept[]
}

/** How often a review is repeated with more of the text. */
const maxRounds = 4

/**
 * Tries an edit without storing anything: server-side apply of what it changes. An apply gives up what the same manager has
 * set before and does not set again, so a trial that changes more than the text, or lacks a field, is repeated with those
 * fields.
 */
export async function review(gateway: Gateway, edit: Edit): Promise<Review> {
  const { object, base, edited } = edit
  const live = editableOf(object.json)
  const mine = differences(base, edited)
  if (edit.asPatch) {
    return {
      written: await write(gateway, edit, { kept: [], dryRun: true }),
      staying: [],
      kept: [],
    }
  }
  let kept: Review['kept'] = []
  const isNew = ({ place }: Kept): boolean => !kept.some((one) => overlap(one.place, place))
  for (let round = 1; ; round += 1) {
    let written: Written
    try {
      written = await write(gateway, edit, { kept, dryRun: true })
    } catch (error) {
      const missing = missingIn(error, edit).filter(isNew)
      if (missing.length === 0 || round === maxRounds) throw error
      kept = [...kept, ...missing]
      continue
    }
    const result = written.preview === null ? undefined : editableOf(written.preview.json)
    if (result === undefined) return { written, staying: [], kept }
    const lost = differences(live, result).filter(
      ({ place }) => !mine.some((one) => overlap(one.place, place)),
    )
    const more = lost.flatMap(({ place }) => keptAt(place, edited, live).slice(0, 1)).filter(isNew)
    if (more.length === 0 || round === maxRounds) {
      const removed = mine.filter(({ after }) => after === null)
      const left = differences(edited, result)
      const staying = removed.filter(({ place }) =>
        left.some((one) => one.before === null && overlap(one.place, place)),
      )
      return { written, staying, kept }
    }
    kept = [...kept, ...more]
  }
}

/** The fields that an API server misses, as the text has them: an earlier edit had set them. */
function missingIn(error: unknown, { object, edited }: Edit): readonly Kept[] {
  if (!(error instanceof GatewayError) || error.code !== 'INVALID') return []
  const causes = error.errors.flatMap(({ extensions }) => {
    const { causes: list } = extensions ?? {}
    return Array.isArray(list) ? (list as { readonly field: string }[]) : []
  })
  const live = editableOf(object.json)
  return causes.flatMap(({ field }) => {
    const [outer = ''] = field.replace(/^\./, '').split('[')
    return keptAt(outer.split('.'), edited, live).slice(0, 1)
  })
}

/** Writes an edit; with `resourceVersion`, only to that state of the object. */
export async function write(
  gateway: Gateway,
  { object, base, edited, force, asPatch }: Edit,
  {
    kept,
    dryRun,
    resourceVersion,
  }: {
    readonly kept: Review['kept']
    readonly dryRun: boolean
    readonly resourceVersion?: string
  },
): Promise<Written> {
  if (asPatch) {
    const patch = mergePatch(base, edited)
    const variables = { id: object.id, patch, resourceVersion: resourceVersion ?? null, dryRun }
    const { data, errors } = await gateway.ask(MergePatchDocument, variables)
    if (data.write === null) throw new GatewayError(errors)
    return data.write
  }
  const part = appliedPart(base, edited, kept)
  const { apiVersion, kind, namespace, name, uid, clusterName: cluster } = object
  const manifest = {
    ...part,
    apiVersion,
    kind,
    metadata: {
      ...(part['metadata'] as object | undefined),
      name,
      ...(namespace === null ? {} : { namespace }),
      uid,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  }
  const { data, errors } = await gateway.ask(ApplyManifestDocument, {
    manifest,
    cluster,
    force,
    dryRun,
  })
  const [written] = data.write ?? []
  if (written === null || written === undefined) throw new GatewayError(errors)
  return written
}
