import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { foldKeymap } from '@codemirror/language'
import { searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { Decoration, EditorView, keymap } from '@codemirror/view'
import { yamlExtensions } from '../look/yaml-extensions.ts'

/** CodeMirror to write YAML in. Tab leaves it, as in any field; Ctrl+Enter and Cmd+Enter submit. */
export class TextEditor {
  readonly view: EditorView
  readonly #marks = new Compartment()

  constructor(
    parent: HTMLElement,
    text: string,
    {
      label,
      changed,
      submit,
      further = [],
    }: {
      readonly label: string
      /** What the editor has besides. */
      readonly further?: Extension
      readonly changed: (text: string) => void
      readonly submit: () => void
    },
  ) {
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          ...yamlExtensions(label),
          EditorState.tabSize.of(2),
          history(),
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => {
                submit()
                return true
              },
            },
            ...defaultKeymap,
            ...historyKeymap,
            ...searchKeymap,
            ...foldKeymap,
          ]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) changed(state.doc.toString())
          }),
          this.#marks.of([]),
          further,
        ],
      }),
    })
  }

  /** Marks lines, from 1, that something is wrong with. */
  mark(lines: readonly number[]): void {
    const { doc } = this.view.state
    const found = [...new Set(lines)].filter((line) => line >= 1 && line <= doc.lines)
    const marks: Extension = EditorView.decorations.of(
      Decoration.set(
        found
          .toSorted((a, b) => a - b)
          .map((line) => Decoration.line({ class: 'cm-invalid' }).range(doc.line(line).from)),
      ),
    )
    this.view.dispatch({ effects: this.#marks.reconfigure(marks) })
  }

  /** Puts the cursor into a line. */
  goTo(line: number): void {
    const { doc } = this.view.state
    const { to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
    this.view.dispatch({ selection: { anchor: to }, scrollIntoView: true })
    this.view.focus()
  }

  get text(): string {
    return this.view.state.doc.toString()
  }

  /** Adds a document at the end, or in the place of the text, and puts the cursor there. Undoing takes it away. */
  add(text: string, replaces: boolean): void {
    const { doc } = this.view.state
    const before = replaces ? '' : doc.toString().trimEnd()
    const insert = before === '' ? text : `${before}\n---\n${text}`
    this.view.dispatch({
      changes: { from: 0, to: doc.length, insert },
      selection: { anchor: insert.length },
      scrollIntoView: true,
    })
    this.view.focus()
  }

  /** Takes another text in the place of this one; undoing brings this one back. */
  replace(text: string): void {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } })
  }
}
