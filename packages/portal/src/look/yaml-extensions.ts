import { yaml } from '@codemirror/lang-yaml'
import { codeFolding, foldGutter, syntaxHighlighting } from '@codemirror/language'
import { search } from '@codemirror/search'
import type { Extension } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { classHighlighter } from '@lezer/highlight'
import { pageNonce } from './page-nonce.ts'

/** CodeMirror for YAML: numbered lines that fold, colours and search. `label`: its name for screen readers. */
export function yamlExtensions(label: string): readonly Extension[] {
  return [
    EditorView.cspNonce.of(pageNonce()),
    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label }),
    lineNumbers(),
    foldGutter(),
    codeFolding(),
    yaml(),
    syntaxHighlighting(classHighlighter),
    search({ top: true }),
  ]
}
