/**
 * Turns off warnings that concern developers, not operators. Must run before the AWS SDK is loaded, which warns of Node
 * versions that its later releases will not support.
 */
export function silenceLibraries(env: NodeJS.ProcessEnv = process.env): void {
  env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
}
