import type { ObjectId } from '../../informer/store/store-view.ts'
import type { Row } from '../schema/read-context.ts'
import type { KindPart } from './kind-part.ts'

/** A row of a kind as it is read; `null` where there is none. */
export function rowOf({ cluster, kind, view }: KindPart, id: ObjectId | undefined): Row | null {
  return id === undefined ? null : { cluster, kind, object: view.object(id) }
}
