/**
 * Completion scripts for three shells, generated from the commands. They do not call this program
 * while the user types.
 */
import type { Command } from 'commander'
import { completionBash } from './completion-bash.ts'
import { completionFish } from './completion-fish.ts'
import { completionZsh } from './completion-zsh.ts'
import type { Shell } from './own.ts'
import { type CommandPlace, placesIn } from './places.ts'

const writers: Record<Shell, (places: readonly CommandPlace[]) => string> = {
  bash: completionBash,
  zsh: completionZsh,
  fish: completionFish,
}

/** The completion script of a shell. */
export const completionFor = (shell: Shell, program: Command): string =>
  writers[shell](placesIn(program, ''))
