/** What the server wrote into the page: who is signed in, and where this deployment is. */
import type { Role } from '#kernel/roles'

export interface OwnWorkspace {
  id: string
  name: string
  role: Role
}

interface ConsoleSession {
  id: string
  person: { id: string; name: string; email: string | null }
  workspace: { id: string; name: string }
  role: Role
  workspaces: OwnWorkspace[]
}

export interface Boot {
  session: ConsoleSession
  /** Of the profile, such as Europe/Berlin. */
  time_zone: string
  /** The path of the shared worker's script. */
  worker: string
  /** Names the build of the console. */
  build: string
  public_url: string
  /** Origins from which the server accepts changes. */
  origins: string[]
}

const read = (): Boot => JSON.parse(document.getElementById('boot')!.textContent!)

/** It holds for as long as the tab shows its page: a switch of workspaces loads the page anew. */
export const boot: Boot = read()

/** Whether the server would refuse what this tab asks it to change. */
export const isElsewhere = (): boolean => !boot.origins.includes(location.origin)
