/** `tendril profiles list|use|remove`. */
import { readSettings, type Settings, writeSettings } from './config-file.ts'
import { misuse } from './failure.ts'
import type { Host } from './host.ts'
import { jsonText, tablePages } from './print.ts'
import { DEFAULT_URL } from './target.ts'

type Options = Readonly<Record<string, unknown>>

const read = (host: Host): Promise<Settings> =>
  readSettings(host.home, (text) => host.stderr.write(`tendril: ${text}\n`))

const requireProfile = ({ profiles }: Settings, name: string): string =>
  Object.hasOwn(profiles, name)
    ? name
    : misuse(
        `no such profile: ${name}`,
        Object.keys(profiles).length > 0
          ? `profiles: ${Object.keys(profiles).join(', ')}`
          : 'run tendril login to create one',
      )

/** Does not show keys. */
export const listProfiles = async (options: Options, host: Host): Promise<number> => {
  const { profiles, current } = await read(host)
  const rows = Object.entries(profiles).map(
    ([name, { api_url = DEFAULT_URL, api_key, workspace, session }]) => ({
      name,
      current: name === current,
      api_url,
      workspace: workspace?.name ?? workspace?.id ?? null,
      logged_in: api_key !== undefined || session !== undefined,
    }),
  )
  if (options.json === true) host.stdout.write(jsonText({ profiles: rows }, host.stdout))
  else if (rows.length === 0) host.stderr.write('no profiles: run tendril login to create one\n')
  else tablePages(host).add(rows)
  return 0
}

export const useProfile = async (name: string, host: Host): Promise<number> => {
  const settings = await read(host)
  await writeSettings(host.home, { ...settings, current: requireProfile(settings, name) })
  return 0
}

/** Removes the local profile. Its credentials stay valid on the server. */
export const removeProfile = async (name: string, host: Host): Promise<number> => {
  const settings = await read(host)
  const { [requireProfile(settings, name)]: _removed, ...profiles } = settings.profiles
  const current = settings.current === name ? undefined : settings.current
  await writeSettings(host.home, { ...settings, current, profiles })
  return 0
}
