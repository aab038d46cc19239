const name = /^(?:[^.[\]\\\s"'*?@()]|\\.)+/
const quoted = /^\[(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]/
const every = /^\[(?:\*|:)?\]/
const filter =
  /^\[\?\(\s*@\.([A-Za-z_]\w*)\s*==\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\)\]/

/**
 * A JSONPath as CRDs write it (`.status.conditions[?(@.type=="Ready")].status`), as a path of the SDL
 * (`status.conditions[type="Ready"].status`); `undefined` where it says more than such a path can.
 */
export function pathOfJsonPath(jsonPath: string): string | undefined {
  const braces = /^\{(.*)\}$/s.exec(jsonPath.trim())
  let rest = (braces?.[1] ?? jsonPath).trim().replace(/^\$/, '')
  let path = ''
  while (rest !== '') {
    const dotted = rest.startsWith('.') ? name.exec(rest.slice(1)) : null
    const [match, step] =
      dotted === null ? bracketStep(rest) : [`.${dotted[0]}`, member(unescaped(dotted[0]))]
    if (match === undefined) return undefined
    path += path !== '' && !step.startsWith('[') ? `.${step}` : step
    rest = rest.slice(match.length)
  }
  return path === '' ? undefined : path
}

function bracketStep(rest: string): readonly [match: string | undefined, step: string] {
  const all = every.exec(rest)
  if (all !== null) return [all[0], '[*]']
  const key = quoted.exec(rest)
  if (key !== null) return [key[0], member(unescaped(key[1] ?? key[2] ?? ''))]
  const matching = filter.exec(rest)
  if (matching === null) return [undefined, '']
  const value = unescaped(matching[2] ?? matching[3] ?? '')
  return [matching[0], `[${matching[1]}=${JSON.stringify(value)}]`]
}

function member(text: string): string {
  return /^[^.[\]"\s]+$/.test(text) ? text : `[${JSON.stringify(text)}]`
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1')
}
