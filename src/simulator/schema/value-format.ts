import { isIP, isIPv4, isIPv6 } from 'node:net'

const isoDate = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/
const isoTime =
  /^\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?$/
const base64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const goDuration =
  /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h|d|w)(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))*$/
const label = '[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?'

function isNetwork(text: string): boolean {
  const [address = '', length = '', ...more] = text.split('/')
  const version = isIP(address)
  const fits = /^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128)
  return version !== 0 && fits && more.length === 0
}

/** The formats of strings that a kube-apiserver checks in custom resources; it takes any text for the others. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => isoDate.test(text),
  'date-time': (text) => isoTime.test(text),
  datetime: (text) => isoTime.test(text),
  duration: (text) => text === '0' || goDuration.test(text),
  byte: (text) => base64.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isNetwork,
  mac: (text) => /^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  hostname: (text) => text.length < 254 && new RegExp(`^${label}(\\.${label})*$`).test(text),
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  uri: (text) => text.startsWith('/') || URL.canParse(text),
}

/** Whether a string has a format. */
export function hasFormat(text: string, format: string): boolean {
  return formats[format]?.(text) ?? true
}
