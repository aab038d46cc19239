import { foldEffect, foldKeymap, syntaxTree } from '@codemirror/language'
import { diff, getChunks, unifiedMergeView } from '@codemirror/merge'
import { highlightSelectionMatches, openSearchPanel, searchKeymap } from '@codemirror/search'
import { ChangeSet, Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { useEffect, useRef, useState } from 'react'
import { useTakesWrites } from '../actions/writable.ts'
import { draftOf } from '../edit/draft.ts'
import { YamlEdit } from '../edit/yaml-edit.tsx'
import { MayEditDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { yamlExtensions } from '../look/yaml-extensions.ts'
import { words } from '../words.ts'
import { textAt } from './json.ts'
import type { SeenObject } from './live-object.ts'
import { yamlOf } from './yaml-text.ts'
import styles from './yaml-tab.module.css'
import { timeOfDay } from '../look/times.ts'

/** An object as YAML: to read, and to edit for those who may change it. */
export function YamlTab({ object }: { readonly object: SeenObject }) {
  const takesWrites = useTakesWrites()
  const { data } = useAnswer(MayEditDocument, { id: object.id }, { enabled: takesWrites })
  // Without callers who are known by name, it is known only when it is tried.
  const mayEdit = takesWrites && data?.object != null && data.object.patch !== false
  const [isEdited, setEdited] = useState(() => draftOf(object.id) !== undefined)
  const [done, setDone] = useState<string>()
  if (isEdited && mayEdit) {
    return (
      <YamlEdit
        object={object}
        onEnd={(what) => {
          setEdited(false)
          setDone(what)
        }}
      />
    )
  }
  const edit = (): void => {
    setDone(undefined)
    setEdited(true)
  }
  return <YamlView object={object} done={done} {...(mayEdit ? { edit } : {})} />
}

/** The object as YAML, read-only: it can be searched and folded, and what has changed since it was opened is marked. */
export function YamlView({
  object,
  done,
  edit,
  since,
}: {
  readonly object: Pick<SeenObject, 'json'>
  /** What an edit has done, or which state of the object it is. */
  readonly done: string | undefined
  /** Absent: the user may not change it, or the gateway takes no writes. */
  readonly edit?: () => void
  /** An earlier state, to compare it with. Absent: as it was when it was opened. */
  readonly since?: { readonly text: string; readonly at: Date }
}) {
  const text = yamlOf(object.json)
  const [opened, setOpened] = useState(() => since ?? { text, at: new Date() })
  const [isOnly, setOnly] = useState(false)
  const [changes, setChanges] = useState(0)
  const place = useRef<HTMLDivElement>(null)
  const editor = useRef<YamlEditor>(null)
  useEffect(() => {
    if (place.current === null) return
    editor.current = new YamlEditor(place.current, opened.text)
    return () => editor.current?.view.destroy()
    // The editor is made once; the effects below keep it up to date.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
  useEffect(() => {
    editor.current?.show(text, opened.text, isOnly)
    setChanges(editor.current?.changes ?? 0)
  }, [text, opened, isOnly])
  const say = words.object.yaml
  return (
    <div className={styles['yaml']}>
      <div className={styles['bar']}>
        <output>
          {done === undefined ? null : `${done} `}
          {changes > 0
            ? say.changed(changes, timeOfDay(opened.at))
            : done === undefined
              ? say.unchanged
              : null}
        </output>
        {changes === 0 ? null : (
          <>
            <label>
              <input
                type="checkbox"
                checked={isOnly}
                onChange={({ target }) => setOnly(target.checked)}
              />
              {say.only}
            </label>
            <button type="button" onClick={() => setOpened({ text, at: new Date() })}>
              {say.marks}
            </button>
          </>
        )}
        <span className={styles['right']}>
          {edit === undefined ? null : (
            <button type="button" onClick={edit}>
              {words.edit.edit}
            </button>
          )}
          <button
            type="button"
            onClick={() => {
              const view = editor.current?.view
              if (view !== undefined) openSearchPanel(view)
            }}
          >
            {say.search}
          </button>
          <button type="button" onClick={() => void navigator.clipboard.writeText(text)}>
            {say.copy}
          </button>
        </span>
      </div>
      {textAt(object.json, 'kind') === 'Secret' && textAt(object.json, 'apiVersion') === 'v1' ? (
        <p className={styles['note']}>{say.secret}</p>
      ) : null}
      <div ref={place} className={styles['text']} />
    </div>
  )
}

/** CodeMirror with the text of an object, compared with an earlier text. */
class YamlEditor {
  readonly view: EditorView
  readonly #marks = new Compartment()
  #original: string
  #isOnly = false

  constructor(parent: HTMLElement, text: string) {
    this.#original = text
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          ...yamlExtensions(words.object.yaml.label),
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          highlightSelectionMatches(),
          keymap.of([...searchKeymap, ...foldKeymap]),
          this.#marks.of(marksOf(text, false)),
        ],
      }),
    })
    foldNoise(this.view)
  }

  /** How many places differ from the original. */
  get changes(): number {
    return getChunks(this.view.state)?.chunks.length ?? 0
  }

  /** Shows a text with its differences to an original; with `isOnly`, folds what is the same. */
  show(text: string, original: string, isOnly: boolean): void {
    const { doc } = this.view.state
    const before = doc.toString()
    if (before !== text) {
      // Only what differs, so that folds, the selection and what is in view stay.
      const changes = diff(before, text, { timeout: 100 }).map(({ fromA, toA, fromB, toB }) => ({
        from: fromA,
        to: toA,
        insert: text.slice(fromB, toB),
      }))
      this.view.dispatch({ changes: ChangeSet.of(changes, doc.length) })
    }
    if (original !== this.#original || isOnly !== this.#isOnly) {
      this.#original = original
      this.#isOnly = isOnly
      this.view.dispatch({ effects: this.#marks.reconfigure(marksOf(original, isOnly)) })
    }
  }
}

function marksOf(original: string, isOnly: boolean): Extension {
  return unifiedMergeView({
    original,
    mergeControls: false,
    highlightChanges: true,
    gutter: true,
    ...(isOnly ? { collapseUnchanged: { margin: 3, minSize: 4 } } : {}),
  })
}

const noise = new Set(['managedFields', 'kubectl.kubernetes.io/last-applied-configuration'])

/** Folds what is for machines. */
function foldNoise(view: EditorView): void {
  const { state } = view
  const effects: ReturnType<typeof foldEffect.of>[] = []
  syntaxTree(state).iterate({
    enter: ({ type, from, to, node }) => {
      if (type.name !== 'Pair') return
      const key = node.firstChild
      if (key === null || !noise.has(state.sliceDoc(key.from, key.to).replaceAll('"', ''))) return
      effects.push(foldEffect.of({ from: state.doc.lineAt(from).to, to }))
    },
  })
  if (effects.length > 0) view.dispatch({ effects })
}
