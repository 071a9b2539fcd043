import { readConfig } from '#config/config'
import { hostAndPort } from '#config/values'

/** How to reach, on its own machine, a server that listens on every address. */
const LOOPBACK: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * For health checks where there is no curl. Returns the exit code, which is 0 if the server on HOST
 * and PORT answers.
 */
export async function health(): Promise<number> {
  const { host, port } = readConfig()
  const at = hostAndPort(LOOPBACK[host] ?? host, port)
  const response = await fetch(`http://${at}/health`, { signal: AbortSignal.timeout(3_000) }).catch(
    () => undefined,
  )
  if (!response?.ok) console.error(`no server answers at ${at}`)
  return response?.ok ? 0 : 1
}
