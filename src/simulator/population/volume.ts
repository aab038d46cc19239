import { type AppContext, firstUid } from './app-context.ts'
import { selectorLabels } from './app-labels.ts'
import { managers } from './managed-fields.ts'
import { type PopulationItem, populationItem } from './population-object.ts'
import { resources } from './resources.ts'
import { second } from './duration.ts'

/** The driver of the imaginary cloud's disks. */
export const diskDriver = 'disk.csi.fjordholt.example'

/** The claim of one pod of a StatefulSet, and the volume bound to it: the volume first. */
export function* volumeItems(
  { app, seed, createdAtMs }: AppContext,
  ordinal: number,
  zone: string,
): Generator<PopulationItem> {
  const { namespace } = app
  const name = `data-${app.name}-${ordinal}`
  const claimUid = firstUid(seed, resources.persistentVolumeClaims, namespace, name)
  const volumeName = `pvc-${claimUid}`
  const capacity = { storage: '20Gi' }
  const accessModes = ['ReadWriteOnce']
  const provisioned = { 'volume.kubernetes.io/storage-provisioner': diskDriver }
  yield populationItem(resources.persistentVolumes, {
    name: volumeName,
    uid: firstUid(seed, resources.persistentVolumes, '', volumeName),
    createdAtMs: createdAtMs + 3 * second,
    annotations: { 'pv.kubernetes.io/provisioned-by': diskDriver },
    finalizers: [
      'external-provisioner.volume.kubernetes.io/finalizer',
      'kubernetes.io/pv-protection',
    ],
    manager: { manager: 'csi-provisioner', operation: 'Update' },
    body: {
      spec: {
        accessModes,
        capacity,
        claimRef: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          name,
          namespace,
          uid: claimUid,
        },
        csi: { driver: diskDriver, fsType: 'ext4', volumeHandle: `vol-${claimUid.slice(0, 8)}` },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] },
                ],
              },
            ],
          },
        },
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 'fast',
        volumeMode: 'Filesystem',
      },
      status: { phase: 'Bound' },
    },
  })
  yield populationItem(resources.persistentVolumeClaims, {
    name,
    namespace,
    uid: claimUid,
    createdAtMs,
    labels: selectorLabels(app),
    annotations: { 'pv.kubernetes.io/bind-completed': 'yes', ...provisioned },
    finalizers: ['kubernetes.io/pvc-protection'],
    manager: managers.controller,
    body: {
      spec: {
        accessModes,
        resources: { requests: capacity },
        storageClassName: 'fast',
        volumeMode: 'Filesystem',
        volumeName,
      },
      status: { accessModes, capacity, phase: 'Bound' },
    },
  })
}
