import { type Fields, fieldsOf, specOf, statusOf, textOf } from '../fields.ts'
import { ageColumn, type Column, column, nameColumn, type PrintedKind, wide } from './column.ts'
import { accessModesText } from './printed-text.ts'

const annotationOf = (object: Fields, name: string): string | undefined =>
  textOf(fieldsOf(fieldsOf(object['metadata'])['annotations'])[name])

const phase = column('Status', 'string', (object) =>
  textOf(fieldsOf(object['metadata'])['deletionTimestamp']) === undefined
    ? (textOf(statusOf(object)['phase']) ?? '')
    : 'Terminating',
)

const storageClass = column(
  'StorageClass',
  'string',
  (object) =>
    annotationOf(object, 'volume.beta.kubernetes.io/storage-class') ??
    textOf(specOf(object)['storageClassName']) ??
    '',
)

const unsetOr = (name: string, field: string, more: Partial<Column> = {}): Column =>
  column(name, 'string', (object) => textOf(specOf(object)[field]) ?? '<unset>', more)

const attributesClass = unsetOr('VolumeAttributesClass', 'volumeAttributesClassName')
const volumeMode = unsetOr('VolumeMode', 'volumeMode', wide)

const storageOf = (capacity: unknown): string => textOf(fieldsOf(capacity)['storage']) ?? '0'

export const volumeColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Capacity', 'string', (object) => storageOf(specOf(object)['capacity'])),
    column('Access Modes', 'string', (object) => accessModesText(specOf(object)['accessModes'])),
    column(
      'Reclaim Policy',
      'string',
      (object) => textOf(specOf(object)['persistentVolumeReclaimPolicy']) ?? '',
    ),
    phase,
    column('Claim', 'string', (object) => {
      const { claimRef } = specOf(object)
      if (claimRef === undefined || claimRef === null) return ''
      const { namespace, name } = fieldsOf(claimRef)
      return `${textOf(namespace) ?? ''}/${textOf(name) ?? ''}`
    }),
    storageClass,
    attributesClass,
    column('Reason', 'string', (object) => textOf(statusOf(object)['reason']) ?? ''),
    ageColumn,
    volumeMode,
  ],
}

/** The status of a claim is only shown once a volume is bound to it. */
const ofBound = (name: string, textIn: (status: Fields) => string): Column =>
  column(name, 'string', (object) =>
    textOf(specOf(object)['volumeName']) === undefined ? '' : textIn(statusOf(object)),
  )

export const claimColumns: PrintedKind = {
  columns: [
    nameColumn(),
    phase,
    column('Volume', 'string', (object) => textOf(specOf(object)['volumeName']) ?? ''),
    ofBound('Capacity', ({ capacity }) => storageOf(capacity)),
    ofBound('Access Modes', ({ accessModes }) => accessModesText(accessModes)),
    storageClass,
    attributesClass,
    ageColumn,
    volumeMode,
  ],
}

const defaultClass = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

export const storageClassColumns: PrintedKind = {
  columns: [
    nameColumn((object) =>
      defaultClass.some((name) => annotationOf(object, name) === 'true') ? ' (default)' : '',
    ),
    column('Provisioner', 'string', ({ provisioner }) => textOf(provisioner) ?? ''),
    column('ReclaimPolicy', 'string', ({ reclaimPolicy }) => textOf(reclaimPolicy) ?? 'Delete'),
    column(
      'VolumeBindingMode',
      'string',
      ({ volumeBindingMode }) => textOf(volumeBindingMode) ?? 'Immediate',
    ),
    column(
      'AllowVolumeExpansion',
      'string',
      ({ allowVolumeExpansion }) => allowVolumeExpansion === true,
    ),
    ageColumn,
  ],
}
