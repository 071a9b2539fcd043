import { expect, test } from 'bun:test'
import lock from '../package-lock.json'

interface Package {
  version?: string
  engines?: { node?: string }
  resolved?: string
}

const packages = Object.entries(lock.packages as Record<string, Package>)

/** The oldest Node that the README asks for. */
const NODE = '20.19.0'

test('every package that npm installs supports Node 20, so that an install prints no warnings', () => {
  const newer = packages.filter(
    ([, { engines }]) => engines?.node !== undefined && !Bun.semver.satisfies(NODE, engines.node),
  )
  expect(
    newer.map(([name, { version, engines }]) => `${name}@${version} wants Node ${engines?.node}`),
  ).toEqual([])
})

test('the lockfile names no registry', () => {
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
})
