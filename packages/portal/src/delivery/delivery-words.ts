import type { ManagerReversal, ManagerTool } from '../gateway/documents.ts'

/** What becomes of a change to an object that something manages. */
export type Effect = 'makes' | 'sets' | 'keeps'

const effects = { makes: 'makes this again', sets: 'sets back what others change' } as const

const reversals: Readonly<Record<ManagerReversal, string>> = {
  AT_ONCE: 'at once',
  IN_TURN: 'when it next reconciles',
  WHEN_RESUMED: 'when it is resumed',
  WHEN_SOURCE_CHANGES: 'when its source has a new revision',
  WHEN_SYNCED: 'when somebody syncs it',
  WHEN_UPGRADED: 'at its next upgrade',
}

const drifted = (objects: number, missing: number): string => {
  const differ = `${objects.toLocaleString()} ${objects === 1 ? 'object differs' : 'objects differ'} from the source`
  if (missing === 0) return differ
  return `${differ}: ${missing === objects ? '' : `${missing.toLocaleString()} of them `}missing in the cluster`
}

/** The texts of what delivers. */
export const deliveryWords = {
  title: 'Delivery',
  sections: {
    argo: 'Argo CD Applications',
    kustomization: 'Flux Kustomizations',
    helmRelease: 'Flux HelmReleases',
    helm: 'Helm releases',
  },
  none: 'Nothing here is delivered by Argo CD, Flux or Helm, as far as you may see.',
  columns: {
    name: 'Name',
    state: 'State',
    health: 'Health',
    revision: 'Revision',
    source: 'Source',
    lastSync: 'Last sync',
  },
  drifted,
  outOfSync: (objects: number, missing: number): string =>
    objects === 0 ? 'OutOfSync.' : `OutOfSync: ${drifted(objects, missing)}.`,
  missing: 'missing in the cluster',
  pruned: 'not in the source any more',
  fields:
    'Argo CD says which objects differ, and not in which fields. What the source wants is not in the cluster as a whole, and the annotation that may have it, kubectl.kubernetes.io/last-applied-configuration, is left out of what the gateway holds. Argo CD shows the fields:',
  more: (shown: number, all: number): string => `${shown} of ${all}, the worst first.`,
  inCluster: (name: string): string => `They are in cluster ${name}.`,
  elsewhere: (cluster: string): string =>
    `They are in another cluster, ${cluster}, which this gateway does not have by this name.`,
  moreSecrets: (shown: number, all: number): string =>
    `By the newest ${shown} of ${all} Secrets of Helm. Choose namespaces to see the others.`,
  revisions: (count: number): string => `${count} ${count === 1 ? 'revision' : 'revisions'} kept`,
  failed: 'This could not be read.',
  managedBy: 'Managed by',
  saidToBeOf: 'Its labels or annotations say that it is of',
  unseen: 'You see none of this name in its cluster, or several.',
  tools: { ARGO_CD: 'Argo CD', FLUX: 'Flux', HELM: 'Helm' } as Readonly<
    Record<ManagerTool, string>
  >,
  /** `null`: what manages the object is not seen. */
  effect: (effect: Effect, reversal: ManagerReversal | null): string => {
    if (effect === 'keeps') return 'It does not revert this.'
    return reversal === null
      ? `If it syncs by itself, it ${effects[effect]}.`
      : `It ${effects[effect]} ${reversals[reversal]}.`
  },
  objects: 'What it delivers',
  moreObjects: (count: number): string => `and ${count.toLocaleString()} more`,
  release: 'release',
  revision: (number: number): string => `Revision ${number}`,
  installed: 'What it has installed',
  chart: 'Chart',
  values: 'Values',
  showValues: 'Show the chart and the values',
  reading: 'Reading the Secret',
  valuesNotRead:
    'Helm keeps the values in this Secret, and this gateway does not read what Secrets hold. Helm shows them to those who may get the Secret.',
  valuesRefused: 'You may not read this Secret, so its values are not shown.',
  noValues: 'Installed with the values of the chart alone.',
} as const
