import { useEffect, useId } from 'react'
import { Age } from '../look/age.tsx'
import controls from '../look/controls.module.css'
import { membersAt, numberAt } from '../object/json.ts'
import { words } from '../words.ts'
import styles from './actions.module.css'
import { containersOf, useRevisions } from './revisions.ts'
import { type ActionTarget, builtInKind } from './target.ts'

/** What an action can ask for. */
export type InputForm = 'replicas' | 'image' | 'revision' | 'label' | 'annotation' | 'propagation'

/** What is filled in, as text. */
export type Inputs = Readonly<Record<string, string>>

const say = words.actions.inputs

/** What is filled in at first. */
export function firstInputs(form: InputForm | undefined, { json }: ActionTarget): Inputs {
  switch (form) {
    case 'replicas':
      return { replicas: String(numberAt(json, 'spec', 'replicas') ?? 1) }
    case 'image': {
      const [first] = containersOf(json)
      return { container: first?.name ?? '', image: first?.image ?? '' }
    }
    case 'propagation':
      return { propagation: 'BACKGROUND' }
    default:
      return {}
  }
}

/** The variables of the mutation by what is filled in; `undefined` if something is missing. */
export function variablesOf(
  form: InputForm | undefined,
  { replicas = '', container, image, toRevision, key, value, removes, propagation }: Inputs,
): Readonly<Record<string, unknown>> | undefined {
  switch (form) {
    case undefined:
      return {}
    case 'replicas':
      return /^\d{1,9}$/.test(replicas) ? { replicas: Number(replicas) } : undefined
    case 'image':
      return container && image?.trim() ? { container, image: image.trim() } : undefined
    case 'revision':
      return toRevision === undefined ? undefined : { toRevision: Number(toRevision) }
    case 'label':
    case 'annotation': {
      const name = form === 'label' ? 'labels' : 'annotations'
      const given = removes === 'yes' ? null : (value ?? '')
      return key?.trim() ? { [name]: { [key.trim()]: given } } : undefined
    }
    case 'propagation':
      return { propagation }
  }
}

interface InputsProps {
  readonly target: ActionTarget
  readonly inputs: Inputs
  readonly change: (changed: Inputs) => void
}

/** The fields of an action. */
export function ActionInputs({ form, ...props }: InputsProps & { readonly form: InputForm }) {
  switch (form) {
    case 'replicas':
      return <TextField name="replicas" label={say.replicas} type="number" {...props} />
    case 'image':
      return <ImageInputs {...props} />
    case 'revision':
      return <RevisionInput {...props} />
    case 'label':
      return <PairInputs place="labels" {...props} />
    case 'annotation':
      return <PairInputs place="annotations" {...props} />
    case 'propagation':
      return <PropagationInput {...props} />
  }
}

function TextField({
  name,
  label,
  inputs,
  change,
  type = 'text',
  options = [],
  disabled = false,
}: Pick<InputsProps, 'inputs' | 'change'> & {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'number'
  readonly options?: readonly string[]
  readonly disabled?: boolean
}) {
  const list = useId()
  return (
    <label className={styles['input']}>
      {label}
      <input
        className={controls['field']}
        type={type}
        {...(type === 'number' ? { min: 0 } : {})}
        value={inputs[name] ?? ''}
        disabled={disabled}
        spellCheck={false}
        autoComplete="off"
        {...(options.length === 0 ? {} : { list })}
        onChange={({ target }) => change({ [name]: target.value })}
      />
      {options.length === 0 ? null : (
        <datalist id={list}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  )
}

function ImageInputs({ target, inputs, change }: InputsProps) {
  const containers = containersOf(target.json)
  return (
    <>
      <label className={styles['input']}>
        {say.container}
        <select
          className={controls['field']}
          value={inputs['container']}
          onChange={({ target: { value } }) => {
            const image = containers.find(({ name }) => name === value)?.image ?? ''
            change({ container: value, image })
          }}
        >
          {containers.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <TextField name="image" label={say.image} inputs={inputs} change={change} />
    </>
  )
}

function PairInputs({
  place,
  target,
  inputs,
  change,
}: InputsProps & { readonly place: 'labels' | 'annotations' }) {
  const present = membersAt(target.json, 'metadata', place).map(([key]) => key)
  const field = { inputs, change }
  return (
    <>
      <TextField name="key" label={say.key} options={present} {...field} />
      <TextField name="value" label={say.value} disabled={inputs['removes'] === 'yes'} {...field} />
      <label className={styles['check']}>
        <input
          type="checkbox"
          checked={inputs['removes'] === 'yes'}
          onChange={({ target: { checked } }) => change({ removes: checked ? 'yes' : 'no' })}
        />
        {say.remove}
      </label>
    </>
  )
}

/** Only what can own objects asks for what becomes of them. */
function PropagationInput({ target, inputs, change }: InputsProps) {
  const isPlain = target.apiVersion === 'v1' && builtInKind(target) !== 'ReplicationController'
  if (isPlain) return null
  return (
    <label className={styles['input']}>
      {say.propagation}
      <select
        className={controls['field']}
        value={inputs['propagation']}
        onChange={({ target: { value } }) => change({ propagation: value })}
      >
        {Object.entries(say.propagations).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

function RevisionInput({ target, inputs, change }: InputsProps) {
  const { revisions, errors, isPending } = useRevisions(target.id)
  const [current, previous] = revisions
  const chosen = inputs['toRevision']
  const offered = previous?.number
  useEffect(() => {
    if (chosen === undefined && offered !== undefined) change({ toRevision: String(offered) })
    // `change` is another function with each rendering.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [chosen, offered])
  if (isPending) return <p role="status">{say.revisions.asking}</p>
  if (previous === undefined) {
    const [error] = errors
    return (
      <p role="status">
        {error === undefined ? say.revisions.none : say.revisions.failed(error.message)}
      </p>
    )
  }
  return (
    <fieldset className={styles['revisions']}>
      <legend>{say.revision}</legend>
      {revisions.map((revision) => {
        const { number, since, images } = revision
        return (
          <label key={number}>
            <input
              type="radio"
              name="revision"
              value={number}
              checked={chosen === String(number)}
              disabled={revision === current}
              onChange={() => change({ toRevision: String(number) })}
            />
            <span>
              {say.revisions.one(number)}{' '}
              {revision === current ? <em>{say.revisions.current}</em> : null}
            </span>
            <span className={styles['images']}>{images.join(' ')}</span>
            <Age since={since} />
          </label>
        )
      })}
    </fieldset>
  )
}
