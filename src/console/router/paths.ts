/** The places of the console, as typed paths. */

const paths = {
  start: '/console',
  inbox: '/console/inbox',
  entry: '/console/inbox/:kind/:id',
  settings: '/console/settings',
  setting: '/console/settings/:page',
} as const

export type PathName = keyof typeof paths

type ParamsIn<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsIn<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

export type ParamsOf<N extends PathName> = Record<ParamsIn<(typeof paths)[N]>, string>

export interface ConsolePlace {
  name: PathName
  params: Record<string, string>
}

/** The address of a place. Search parameters that are undefined are left out. */
export const hrefOf = <N extends PathName>(
  name: N,
  params: ParamsOf<N>,
  search: Record<string, string | undefined> = {},
): string => {
  const path = paths[name].replace(/:(\w+)/g, (_, one: string) =>
    encodeURIComponent((params as Record<string, string>)[one]!),
  )
  const given = Object.entries(search).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  )
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const matchOf = (pattern: string, pathname: string): Record<string, string> | undefined => {
  const [wanted, given] = [pattern.split('/'), pathname.replace(/\/$/, '').split('/')]
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const value = decoded(given[index]!)
    if (value === undefined || value === '') {
      if (part !== '') return undefined
    } else if (part.startsWith(':')) params[part.slice(1)] = value
    else if (part !== value) return undefined
  }
  return params
}

/** The place of an address; undefined if the console has none there. */
export const placeAt = (pathname: string): ConsolePlace | undefined => {
  for (const [name, pattern] of Object.entries(paths)) {
    const params = matchOf(pattern, pathname)
    if (params) return { name: name as PathName, params }
  }
  return undefined
}

/** The value of a search parameter if it is one of these. */
export const choiceIn = <V extends string>(
  search: URLSearchParams,
  name: string,
  values: readonly V[],
): V | undefined => values.find((value) => value === search.get(name))

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The value of a search parameter if it is an id. */
export const idIn = (search: URLSearchParams, name: string): string | undefined =>
  search.get(name)?.match(ID)?.[0]

export const signInHref = (next: string): string => `/sign-in?next=${encodeURIComponent(next)}`
