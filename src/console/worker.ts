/**
 * The shared worker: one stream of hints for all tabs of this browser that show one workspace. The
 * sixth stream of a browser would keep its other requests waiting (HTTP/1.1).
 */
import { followHints, type Heard } from './live/stream.ts'
import type { FromTab } from './live/worker-messages.ts'

interface Tabs {
  ports: Set<MessagePort>
  end: AbortController
  /** The last that was said about the connection, for tabs that come later. */
  connected: boolean
}

/** By workspace. A stream lives as long as it has tabs. */
const streams = new Map<string, Tabs>()

const tell = (tabs: Tabs, heard: Heard): void => {
  if (heard.said === 'connected' || heard.said === 'disconnected')
    tabs.connected = heard.said === 'connected'
  for (const port of tabs.ports) port.postMessage(heard)
}

const begin = (workspace: string): Tabs => {
  const tabs: Tabs = { ports: new Set(), end: new AbortController(), connected: false }
  streams.set(workspace, tabs)
  void followHints({ workspace, signal: tabs.end.signal, tell: (heard) => tell(tabs, heard) })
  return tabs
}

const leave = (port: MessagePort): void => {
  for (const [workspace, tabs] of streams) {
    if (!tabs.ports.delete(port) || tabs.ports.size > 0) continue
    tabs.end.abort()
    streams.delete(workspace)
  }
}

const join = (port: MessagePort, workspace: string): void => {
  leave(port)
  const tabs = streams.get(workspace) ?? begin(workspace)
  tabs.ports.add(port)
  if (tabs.connected) port.postMessage({ said: 'connected' } satisfies Heard)
}

interface SharedScope {
  onconnect: ((event: { ports: readonly MessagePort[] }) => void) | null
}

;(globalThis as unknown as SharedScope).onconnect = ({ ports: [port] }) => {
  port!.onmessage = ({ data }: MessageEvent<FromTab>) => {
    if (data.said === 'here') join(port!, data.workspace)
    else leave(port!)
  }
}
