import { foldKeymap } from '@codemirror/language'
import { unifiedMergeView } from '@codemirror/merge'
import { searchKeymap } from '@codemirror/search'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { yamlExtensions } from '../look/yaml-extensions.ts'
import yamlStyles from '../object/yaml-tab.module.css'
import { compareWords as say } from './compare-words.ts'
import styles from './compare.module.css'

/** A text with what is otherwise in another one. */
export function YamlDifference({ left, right }: { readonly left: string; readonly right: string }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (place.current === null) return
    const view = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: right,
        extensions: [
          ...yamlExtensions(say.yaml),
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          keymap.of([...searchKeymap, ...foldKeymap]),
          unifiedMergeView({
            original: left,
            mergeControls: false,
            gutter: true,
            collapseUnchanged: { margin: 3, minSize: 6 },
          }),
        ],
      }),
    })
    return () => view.destroy()
  }, [left, right])
  return <div ref={place} className={`${yamlStyles['text']} ${styles['yaml']}`} />
}
