import controls from '../look/controls.module.css'
import { accessWords as said, verbs } from './access-words.ts'

/** Chooses a verb; `''` for any. */
export function VerbField({
  verb,
  change,
}: {
  readonly verb: string
  readonly change: (verb: string) => void
}) {
  return (
    <label>
      {said.verb}
      <select
        className={controls['field']}
        value={verb}
        onChange={({ target }) => {
          change(target.value)
        }}
      >
        <option value="">{said.anyVerb}</option>
        {verbs.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  )
}
