import type { ObjectId } from '../../informer/store/store-view.ts'
import type { Page } from '../../query/page/page.ts'
import type { KindPart } from '../operation/kind-part.ts'
import type { ListPlace } from '../operation/list-request.ts'
import type { PlanRun } from './plan-run.ts'

/** Writes one object of a kind, or one member of it, as JSON text. */
export type RowWriter = (run: PlanRun, part: KindPart, id: ObjectId) => string

/** Writes a page of a list as a connection. */
export type ConnectionWriter = (run: PlanRun, part: KindPart, list: ListPlace) => string

/** Writes one field of a connection. */
export type PageWriter = (run: PlanRun, part: KindPart, page: Page) => string
