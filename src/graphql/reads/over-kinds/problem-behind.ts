/*
 * Who notices a problem (`Problem.behind`): the Services that choose its pods, then the Ingresses and routes that lead to these
 * Services. The index of problems has what is compared: the labels of the pods that a workload makes, the selectors of Services,
 * and the Services that Ingresses and routes name. Only kinds that `problems` looks at are read, as the viewer may see them.
 */

import { splitObjectKey } from '../../../kubernetes/object.ts'
import { chooses, type Labels, labelsIn } from '../../../kubernetes/problems/problem-references.ts'
import type { ObjectId } from '../../../informer/store/store-view.ts'
import { isInScope } from '../../../query/condition/scope.ts'
import { leadingTo } from '../../../query/problems/problem-joins.ts'
import type { ListedProblem } from '../../../query/problems/problem-page.ts'
import { problemIndex, type ProblemPart } from '../../../query/problems/problem-part.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { unlessRefused } from '../../errors/client-error.ts'
import type { KindView } from '../../prepare/kind-view.ts'
import type { ObjectRef } from '../../schema/object-ref.ts'
import { problemKindsOf } from '../../served/named-kinds.ts'
import { refOf } from '../object-read.ts'
import type { ReadRun } from '../read-run.ts'

type BehindProblem = ListedProblem<ProblemPart & KindView>

/** The most objects of a problem whose labels are compared: those of one workload have the same ones. */
const maxCompared = 100

/** Comparing a selector takes as long as so many tests. */
const testsPerSelector = 4

/** The Services, then the Ingresses and routes, each by kind, namespace and name; `size` of them at most. */
export function behindProblem(
  run: ReadRun,
  problem: BehindProblem,
  size: number,
): readonly ObjectRef[] {
  const { cluster } = problem
  const kinds = problemKindsOf(run.served, cluster)
  const partsOf = (isMeant: (group: string, kind: string) => boolean): readonly KindView[] =>
    kinds
      .filter(({ resource }) => isMeant(resource.group, resource.kind))
      .flatMap((kind) => {
        const at = { cluster, kind, indexes: { needed: [problemIndex] } }
        return run.late(() => unlessRefused(() => run.parts.part(at))) ?? []
      })
  const [services] = partsOf((group, kind) => group === '' && kind === 'Service')
  if (services === undefined) return []
  const found = servicesOf(run, problem, services)
  const routes = partsOf(
    (group, kind) =>
      (group === 'networking.k8s.io' && kind === 'Ingress') ||
      (group === 'gateway.networking.k8s.io' && kind.endsWith('Route')),
  )
  const keys = Array.from(found, (id) => services.view.keyOf(id))
  const leading = routes.map((part) => {
    const all = keys.flatMap((key) => [...leadingTo(part, key, run.budget)])
    return { part, ids: new Set(all) }
  })
  return [{ part: services, ids: found }, ...leading]
    .flatMap(({ part, ids }) =>
      Array.from(ids, (id) => ({ part, id })).toSorted((a, b) =>
        part.view.keyOf(a.id) < part.view.keyOf(b.id) ? -1 : 1,
      ),
    )
    .slice(0, size)
    .map((one) => refOf(one))
}

/** The Services among the objects of a problem, and those that choose its pods, or the pods that its workloads make. */
function servicesOf(
  { budget }: ReadRun,
  { root, objects }: BehindProblem,
  services: KindView,
): ReadonlySet<ObjectId> {
  const found = new Set<ObjectId>()
  const labelled = new Map<string, Map<string, Labels>>()
  for (const place of [root, ...objects.slice(0, maxCompared)]) {
    if (place.form !== 'object') continue
    const { view } = place.part
    const { group, kind } = view.resource
    if (group === '' && kind === 'Service') {
      found.add(place.id)
      continue
    }
    const labels =
      group === '' && kind === 'Pod'
        ? view.labelsOf(place.id)
        : labelsIn(view.index(problemIndex).valuesOf(place.id), 'template')
    if (labels === undefined) continue
    const { namespace } = splitObjectKey(view.keyOf(place.id))
    getOrInsert(labelled, namespace, () => new Map()).set(JSON.stringify(labels), labels)
  }
  const { view, scope } = services
  for (const [namespace, all] of labelled) {
    for (const id of view.index('namespace').posting(namespace) ?? []) {
      budget.spend('tests', testsPerSelector * all.size)
      if (!isInScope(scope, view.keyOf(id))) continue
      const selector = labelsIn(view.index(problemIndex).valuesOf(id), 'selector')
      if (selector === undefined) continue
      for (const labels of all.values()) if (chooses(selector, labels)) found.add(id)
    }
  }
  return found
}
