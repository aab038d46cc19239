import { type AppContext, firstUid } from './app-context.ts'
import { managers } from './managed-fields.ts'
import type { PodTemplate } from './pod-spec.ts'
import { ownerReference, type PopulationItem, populationItem } from './population-object.ts'
import { resources } from './resources.ts'

/** The stored revision of a StatefulSet or DaemonSet, which its pods name in `controller-revision-hash`. */
export function controllerRevisionItem(
  { app, seed, createdAtMs }: AppContext,
  workload: PopulationItem,
  hash: string,
  template: PodTemplate,
): PopulationItem {
  const name = `${app.name}-${hash}`
  return populationItem(resources.controllerRevisions, {
    name,
    namespace: app.namespace,
    uid: firstUid(seed, resources.controllerRevisions, app.namespace, name),
    createdAtMs,
    labels: { ...template.metadata.labels, 'controller-revision-hash': hash },
    ownerReferences: [ownerReference(workload)],
    manager: managers.controller,
    body: { data: { spec: { template: { ...template, $patch: 'replace' } } }, revision: 1 },
  })
}
