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
  drifted: (objects: number): string =>
    `${objects.toLocaleString()} ${objects === 1 ? 'object differs' : 'objects differ'} from the source`,
  more: (shown: number, all: number): string => `${shown} of ${all}, the worst first.`,
  moreSecrets: (shown: number, all: number): string =>
    `By the newest ${shown} of ${all} Secrets of Helm. Choose namespaces to see the others.`,
  revisions: (count: number): string => `${count} ${count === 1 ? 'revision' : 'revisions'} kept`,
  failed: 'This could not be read.',
  managedBy: 'Managed by',
  reverts: 'It sets back what others change.',
  objects: 'What it delivers',
  moreObjects: (count: number): string => `and ${count.toLocaleString()} more`,
  release: 'Helm release',
  revision: (number: number): string => `Revision ${number}`,
  installed: 'What it has installed',
  chart: 'Chart',
  values: 'Values',
  showValues: 'Show the chart and the values',
  reading: 'Reading the Secret',
  valuesNotHeld:
    'The gateway does not serve the data of Secrets, so the values of the release are not shown.',
  valuesRefused: 'You may not read this Secret, so its values are not shown.',
  noValues: 'Installed with the values of the chart alone.',
} as const
