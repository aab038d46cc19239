import type { VariableValues } from 'graphql'
import type { ObjectId } from '../../informer/store/store-view.ts'
import type { Page } from '../../query/page/page.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { FieldArguments } from './field-arguments.ts'
import type { PlanNeeds } from './plan-needs.ts'
import type { PlanRun } from './plan-run.ts'

/** Writes one object of a kind, or one member of it, as JSON text. */
export type RowWriter = (run: PlanRun, part: KindView, id: ObjectId) => string

/** Writes a page of a list as a connection, or one field of it. */
export type PageWriter = (run: PlanRun, part: KindView, page: Page) => string

/** One field of `Query` in a plan. */
export interface RootWriter {
  /** The kinds that the field reads in the cluster named by its arguments. */
  readonly needs: PlanNeeds
  readonly args: FieldArguments
  /** Further kinds that depend on the request's arguments, each in its cluster. */
  further?(
    served: ServedSchema,
    args: Readonly<Record<string, unknown>>,
    variables: VariableValues,
  ): readonly ClusterKind[]
  write(run: PlanRun): string
}
