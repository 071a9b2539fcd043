/** A state of the console that is shown in pictures. */
import type { Page } from 'playwright-core'
import type { Scene } from './workspace.ts'

export interface PicturedState {
  name: string
  as?: 'vera'
  /** A record that is not there is 404, which Chromium writes to its console. */
  reads404?: true
  path(scene: Scene): string
  /** What is done there; ends once the state is on the screen. */
  reach(page: Page, scene: Scene): Promise<unknown>
}
