import { readConfig } from './config.ts'

/** For health checks in places without curl: 0 when the server on PORT answers. */
export async function health(): Promise<number> {
  const { port } = readConfig()
  const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(3_000) }).catch(() => undefined)
  if (!response?.ok) console.error(`no server answers on port ${port}`)
  return response?.ok ? 0 : 1
}
