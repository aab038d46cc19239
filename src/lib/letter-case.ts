/** `issuerRef` -> `IssuerRef`. */
export function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** The labels of a DNS name in Pascal case: `stable.example.com` -> `StableExampleCom`. */
export function pascalCaseOfDnsName(name: string): string {
  return name
    .split(/[.-]/)
    .map((label) => capitalised(label))
    .join('')
}

/** A word ends before a capital after a lower-case letter or digit, and before the last capital of an acronym. */
const wordBoundary = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/

/** The words of a name in camel case: `clientIDSecret` -> `client`, `ID`, `Secret`. */
export function camelCaseWords(name: string): readonly string[] {
  return name.split(wordBoundary)
}

/** Lower camel case with acronyms as words: `HTTPRoute` -> `httpRoute`, `ServiceCIDR` -> `serviceCidr`. */
export function lowerCamelCase(name: string): string {
  return camelCaseWords(name)
    .map((word, at) => (at === 0 ? word.toLowerCase() : capitalised(word.toLowerCase())))
    .join('')
}

/** The words of a text, which white space separates. */
export function words(text: string): readonly string[] {
  return text.split(/\s+/)
}
